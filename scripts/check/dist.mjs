// Fails if dist/ differs from the output of src/main.ts.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { synthesize } from '../lib/synthesize.mjs';

const committed = join(import.meta.dirname, '../../dist');
const fresh = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-dist-'));
try {
  synthesize('src/main.ts', fresh);
  const before = contents(committed);
  const after = contents(fresh);
  const stale = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => before.get(name) !== after.get(name),
  );
  if (stale.length > 0) {
    console.error(`dist/ is out of date (${stale.join(', ')}): run npm run synth`);
    process.exitCode = 1;
  }
} finally {
  rmSync(fresh, { recursive: true });
}

function contents(directory) {
  if (!existsSync(directory)) return new Map();
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.map((path) => [path.slice(directory.length + 1), readFileSync(path, 'utf8')]));
}
