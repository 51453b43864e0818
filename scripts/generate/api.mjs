// Compiles the library with jsii and writes API.md from the result. Fails if a summary has no verb, if a parameter has no
// text, or if a name is reserved in another language. With --check it writes nothing, and fails if API.md is out of date.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compile, document } from '../lib/assembly.mjs';
import { nameProblems } from '../lib/names.mjs';
import { parameterProblems } from '../lib/parameters.mjs';
import { summaryProblems } from '../lib/summaries.mjs';

const committed = join(import.meta.dirname, '../../API.md');

function refuse(problems, remedy) {
  if (problems.length > 0) throw new Error([remedy, ...problems].join('\n'));
}

const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-api-'));
try {
  const assembly = compile(directory);
  refuse(
    summaryProblems(assembly),
    'Write each summary as a sentence, beginning with a verb of scripts/lib/summaries.mjs:',
  );
  refuse(nameProblems(assembly), 'Choose names that Python, Java and Go can use:');
  refuse(parameterProblems(assembly), 'Write a @param for each of these:');
  document(directory, 'API.md');
  const api = readFileSync(join(directory, 'API.md'), 'utf8');
  if (!process.argv.includes('--check')) writeFileSync(committed, api);
  else if (!existsSync(committed) || readFileSync(committed, 'utf8') !== api) {
    throw new Error('API.md is out of date: run npm run generate');
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(directory, { recursive: true });
}
