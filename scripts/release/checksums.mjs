// SHA256SUMS of every artifact, for `sha256sum --check`.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { filesBelow } from './pack.mjs';
import { notListed } from './signature.mjs';

export async function checksums(release) {
  const names = filesBelow(release.directory).map((path) => relative(release.directory, path));
  const artifacts = names.filter((name) => !notListed.has(name));
  const other = artifacts.find((name) => isOfOther(name, release.version));
  if (other) throw new Error(`${other} is not of version ${release.version}; remove it`);
  const lines = artifacts.map((name) => {
    const sum = createHash('sha256')
      .update(readFileSync(release.file(name)))
      .digest('hex');
    return `${sum}  ${name}\n`;
  });
  writeFileSync(release.file('SHA256SUMS'), lines.join(''));
}

/** Whether the name of an artifact has another version than this one. */
function isOfOther(name, version) {
  const [found] = /\d+\.\d+\.\d+.*/.exec(name) ?? [];
  const is = (own) => found.startsWith(own) && !/^\d/.test(found.slice(own.length));
  return found !== undefined && !is(version) && !is(pythonVersion(version));
}

/** As Python writes it: 1.2.0rc1. */
const pythonVersion = (version) => version.replace(/-(\w+)\.(\d+)$/, '$1$2');
