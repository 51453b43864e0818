// SHA256SUMS of every artifact, for `sha256sum --check`.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { listedArtifacts, notListed } from './artifacts.mjs';
import { filesBelow } from './pack.mjs';

export async function checksums(release) {
  const names = filesBelow(release.directory).map((path) => relative(release.directory, path));
  const artifacts = names.filter((name) => !notListed.has(name));
  const known = listedArtifacts(release.version);
  const other = artifacts.find((name) => !known.includes(name));
  if (other) throw new Error(`${other} is not of version ${release.version}; remove it`);
  const lines = artifacts.map((name) => {
    const sum = createHash('sha256')
      .update(readFileSync(release.file(name)))
      .digest('hex');
    return `${sum}  ${name}\n`;
  });
  writeFileSync(release.file('SHA256SUMS'), lines.join(''));
}
