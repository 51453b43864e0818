// What is in release/ before it is signed or published: the files that SHA256SUMS lists, made from this commit.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '../lib/steps.mjs';
import { filesBelow } from './pack.mjs';
import { signatures } from './signature.mjs';

/** What this checkout is. */
export function thisCommit() {
  const { version, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  return { version, commit, homepage: repository.url.replace(/\.git$/, '') };
}

/** Refuses files that SHA256SUMS does not list or that differ, and a provenance of something else. */
export function checkMade(directory, made) {
  const sums = sumsOf(directory);
  for (const [name, sum] of sums) {
    const path = join(directory, name);
    if (!existsSync(path)) throw new Error(`${name}: SHA256SUMS lists it, and it is not there`);
    if (createHash('sha256').update(readFileSync(path)).digest('hex') !== sum)
      throw new Error(`${name}: is not the file that SHA256SUMS lists`);
  }
  const beside = new Set(['SHA256SUMS', ...signatures.filter((name) => name.endsWith('.json'))]);
  const other = filesBelow(directory)
    .map((path) => relative(directory, path))
    .find((name) => !sums.has(name) && !beside.has(name));
  if (other) throw new Error(`${other}: SHA256SUMS does not list it`);
  if (!sums.has('provenance.json')) throw new Error('provenance.json: SHA256SUMS does not list it');
  checkProvenance(JSON.parse(readFileSync(join(directory, 'provenance.json'), 'utf8')), made);
}

/** Sums of the artifacts, by name. */
function sumsOf(directory) {
  const file = join(directory, 'SHA256SUMS');
  if (!existsSync(file)) throw new Error(`${directory} has no SHA256SUMS; make the release first`);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return new Map(
    lines.map((line) => {
      const [, sum, name] = /^([0-9a-f]{64}) {2}(\S.*)$/.exec(line) ?? [];
      if (!name || name.startsWith('/') || name.split('/').includes('..'))
        throw new Error(`SHA256SUMS: '${line}' is not a sum of a file in release/`);
      return [name, sum];
    }),
  );
}

/** The job that wrote the provenance runs packages of others, so what it says is compared with the checkout. */
export function checkProvenance(provenance, { version, commit, homepage }) {
  const { buildDefinition, runDetails } = provenance;
  const { externalParameters, internalParameters, resolvedDependencies } = buildDefinition ?? {};
  const wanted = {
    version: [externalParameters?.version, version],
    uncommittedChanges: [internalParameters?.uncommittedChanges, false],
    leftOut: [quoted(internalParameters?.leftOut), "''"],
    repository: [resolvedDependencies?.[0]?.uri, `git+${homepage}.git`],
    gitCommit: [resolvedDependencies?.[0]?.digest?.gitCommit, commit],
    builder: [runDetails?.builder?.id, `${homepage}/.github/workflows/release.yml`],
  };
  for (const [name, [found, expected]] of Object.entries(wanted))
    if (found !== expected) throw new Error(`provenance.json: ${name} is ${found}, not ${expected}`);
}

const quoted = (names) => (Array.isArray(names) ? `'${names.join(', ')}'` : names);
