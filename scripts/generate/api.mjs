// Compiles the library with jsii, which refuses an API that other languages could not call, and writes API.md from the
// result. Fails if a summary has no verb. With --check it writes nothing, and fails if API.md is out of date.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { summaryProblems } from '../lib/summaries.mjs';

const require = createRequire(import.meta.url);
const root = join(import.meta.dirname, '../..');
const committed = join(root, 'API.md');

// jsii's default is ES2020 with every TypeScript file that it finds, but the command line is not part of the API.
const tsconfig = {
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2022'],
    module: 'commonjs',
    types: ['node'],
    rootDir: '.',
    outDir: 'lib',
    strict: true,
    declaration: true,
    noEmitOnError: true,
    skipLibCheck: true,
    esModuleInterop: true,
  },
  files: ['src/index.ts'],
};

// `operator` is reserved in C#, but Kubernetes uses this name for the field.
const jsiiOptions = [
  '--tsconfig=tsconfig.json',
  '--validate-tsconfig=minimal',
  '--silence-warnings=reserved-word',
  '--Werr',
];

/** Copies the sources, because jsii writes into the directory that it compiles. */
function stage(directory) {
  for (const name of ['src', 'imports', 'package.json', 'README.md', 'LICENSE']) {
    if (existsSync(join(root, name))) cpSync(join(root, name), join(directory, name), { recursive: true });
  }
  // Only these: jsii-docgen would otherwise use a newer copy that belongs to a tool.
  mkdirSync(join(directory, 'node_modules'));
  for (const name of ['@types', 'cdk8s', 'constructs']) {
    symlinkSync(join(root, 'node_modules', name), join(directory, 'node_modules', name));
  }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(tsconfig));
}

function run(directory, program, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: directory,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${basename(program)}:\n${stdout}${stderr}`);
}

function checkSummaries(assembly) {
  const problems = summaryProblems(assembly);
  if (problems.length === 0) return;
  throw new Error(
    ['Write each summary as a sentence, beginning with a verb of scripts/lib/summaries.mjs:', ...problems].join('\n'),
  );
}

const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-api-'));
try {
  stage(directory);
  run(directory, require.resolve('jsii/bin/jsii'), ...jsiiOptions);
  checkSummaries(JSON.parse(readFileSync(join(directory, '.jsii'), 'utf8')));
  run(directory, require.resolve('jsii-docgen/bin/jsii-docgen'), '--output=API.md');
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
