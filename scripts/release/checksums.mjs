// SHA256SUMS of every artifact, for `sha256sum --check`.
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { isArtifact } from './artifacts.mjs';
import { filesBelow } from './pack.mjs';
import { notListed, signatures } from './signature.mjs';

export async function checksums(release) {
  const names = filesBelow(release.directory).map((path) => relative(release.directory, path));
  const artifacts = names.filter((name) => !notListed.has(name));
  const other = artifacts.find((name) => !isArtifact(name, release.version));
  if (other) throw new Error(`${other} is not of version ${release.version}; remove it`);
  const lines = artifacts.map((name) => {
    const sum = createHash('sha256')
      .update(readFileSync(release.file(name)))
      .digest('hex');
    return `${sum}  ${name}\n`;
  });
  // They are of the earlier sums.
  for (const name of signatures) rmSync(release.file(name), { force: true });
  writeFileSync(release.file('SHA256SUMS'), lines.join(''));
}
