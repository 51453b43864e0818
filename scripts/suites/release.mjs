// `npm run suite -- release [--smoke] [--without STEP]… [--platform linux/amd64]`: makes the artifacts of a release twice, under two umasks, and
// compares their sums. --smoke leaves out the image
// and what follows from it, the signatures, and what Maven makes.
import { deepStrictEqual, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { say } from '../lib/run.mjs';
import { notListed, signatures } from '../release/artifacts.mjs';
import { makeRelease } from '../release/make.mjs';
import { filesBelow } from '../release/pack.mjs';

const { values } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    without: { type: 'string', multiple: true, default: [] },
    platform: { type: 'string', multiple: true },
  },
});
const without = [...values.without, ...(values.smoke ? ['java', 'image', 'signature'] : [])];
const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-releases-'));
try {
  const [first, second] = [await make('first', 0o022), await make('second', 0o077)];
  const names = [...new Set([...first.keys(), ...second.keys()])].filter((name) => !signatures.includes(name));
  const different = names.filter((name) => first.get(name) !== second.get(name));
  ok(different.length === 0, `made twice, and not the same: ${different.join(', ')}`);
  say(`made twice, and the same: ${names.join(', ')}`);
  checkTarball();
} catch (error) {
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(directory, { recursive: true });
}

/** Sums of the artifacts, by name. */
async function make(name, umask) {
  process.umask(umask);
  const to = join(directory, name);
  const leftOut = await makeRelease(to, { without, platforms: values.platform });
  for (const line of leftOut) say(`left out: ${line}`);
  // A release that lacks something is not signed, but the step is tried.
  if (!without.includes('signature')) await makeRelease(to, { only: ['signature'] });
  const sum = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');
  const sums = new Map(filesBelow(to).map((path) => [relative(to, path), sum(path)]));
  const listed = readFileSync(join(to, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
  deepStrictEqual(
    listed.map((line) => line.split('  ').reverse()),
    [...sums].filter(([name]) => !notListed.has(name)),
    'SHA256SUMS lists other files or sums',
  );
  return sums;
}

/** What a reader of the npm package looks for. */
function checkTarball() {
  const [tarball] = filesBelow(join(directory, 'first')).filter((path) => path.endsWith('.tgz'));
  const { stdout } = spawnSync('tar', ['-tzf', tarball], { encoding: 'utf8' });
  const files = new Set(stdout.split('\n'));
  const wanted = [
    '.jsii',
    'API.md',
    'CHANGELOG.md',
    'docs/README.md',
    'examples/minimal.ts',
    'lib/src/index.js',
    'lib/THIRD_PARTY_LICENSES',
  ];
  const missing = wanted.filter((name) => !files.has(`package/${name}`));
  ok(missing.length === 0, `the npm package has no ${missing.join(', ')}`);
}
