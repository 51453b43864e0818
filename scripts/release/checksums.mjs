// SHA256SUMS of every artifact, for `sha256sum --check`.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { filesBelow } from './pack.mjs';

export async function checksums(release) {
  const lines = filesBelow(release.directory).map((path) => {
    const sum = createHash('sha256').update(readFileSync(path)).digest('hex');
    return `${sum}  ${relative(release.directory, path)}\n`;
  });
  writeFileSync(release.file('SHA256SUMS'), lines.join(''));
}
