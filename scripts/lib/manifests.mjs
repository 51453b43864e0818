// Prints every manifest of dist/ and of the examples, as JSON: [{ "file": "dist/x.k8s.yaml", "manifests": [{…}] }].
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { synthesize } from './synthesize.mjs';

const root = join(import.meta.dirname, '../..');
const files = manifestsIn('dist', join(root, 'dist'));
for (const example of readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.ts'))) {
  const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-example-'));
  try {
    synthesize(`examples/${example}`, directory);
    files.push(...manifestsIn(`examples/${example}`, directory));
  } finally {
    rmSync(directory, { recursive: true });
  }
}
process.stdout.write(JSON.stringify(files));

function manifestsIn(name, directory) {
  return readdirSync(directory, { recursive: true })
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => ({
      file: `${name}/${file}`,
      manifests: parseAllDocuments(readFileSync(join(directory, file), 'utf8')).map((document) => document.toJS()),
    }));
}
