// What is in release/ before it is signed or published: the files that SHA256SUMS lists, made from this commit.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '../lib/steps.mjs';
import { listedArtifacts, notListed } from './artifacts.mjs';

/** What this checkout is. */
export function thisCommit() {
  const { version, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  return { version, commit, homepage: repository.url.replace(/\.git$/, '') };
}

/** Refuses what is not a whole release with its sums, and a provenance of something else. */
export function checkMade(directory, made) {
  const listed = checkSums(directory);
  const expected = listedArtifacts(made.version);
  const missing = expected.find((name) => !listed.has(name));
  if (missing) throw new Error(`${missing}: SHA256SUMS does not list it`);
  const other = [...listed.keys()].find((name) => !expected.includes(name));
  if (other) throw new Error(`${other}: no step of version ${made.version} makes it, and SHA256SUMS lists it`);
  checkProvenance(JSON.parse(readFileSync(join(directory, 'provenance.json'), 'utf8')), made);
}

/** Refuses everything that SHA256SUMS does not list, and files that differ. Returns the sums by name. */
export function checkSums(directory) {
  const sums = sumsOf(directory);
  const files = [...sums.keys(), ...notListed].filter((name) => name !== 'rehearsal.pub');
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const name = relative(directory, join(entry.parentPath, entry.name));
    const isKnown = entry.isDirectory()
      ? files.some((file) => file.startsWith(`${name}/`))
      : entry.isFile() && files.includes(name);
    if (!isKnown) throw new Error(`${name}: is not a file that SHA256SUMS lists`);
  }
  for (const [name, sum] of sums) {
    const path = join(directory, name);
    if (!existsSync(path)) throw new Error(`${name}: SHA256SUMS lists it, and it is not there`);
    if (createHash('sha256').update(readFileSync(path)).digest('hex') !== sum)
      throw new Error(`${name}: is not the file that SHA256SUMS lists`);
  }
  return sums;
}

/** Sums of the artifacts, by name. */
function sumsOf(directory) {
  const file = join(directory, 'SHA256SUMS');
  if (!existsSync(file)) throw new Error('there is no SHA256SUMS; make the release first');
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
