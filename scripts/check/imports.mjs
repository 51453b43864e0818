// Fails if crds/ differs from the output of scripts/crds/, or imports/ from that of `cdk8s import`.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crdFiles } from '../crds/files.mjs';
import { importClasses } from '../crds/import-classes.mjs';

const root = join(import.meta.dirname, '../..');
const fresh = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-imports-'));
try {
  await importClasses(fresh);
  const stale = [
    ...differences('crds', new Map(crdFiles()), contents(join(root, 'crds'))),
    ...differences('imports', contents(fresh), contents(join(root, 'imports'))),
  ];
  if (stale.length > 0) {
    console.error(`out of date: ${stale.join(', ')}: run npm run generate`);
    process.exitCode = 1;
  }
} finally {
  rmSync(fresh, { recursive: true });
}

function differences(name, wanted, found) {
  const files = [...new Set([...wanted.keys(), ...found.keys()])].sort();
  return files.filter((file) => wanted.get(file) !== found.get(file)).map((file) => `${name}/${file}`);
}

function contents(directory) {
  if (!existsSync(directory)) return new Map();
  return new Map(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'utf8')]));
}
