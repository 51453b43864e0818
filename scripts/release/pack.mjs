// Archives whose bytes depend on the names and the contents of the files alone, and on one time.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tarFile } from '../../agent/src/lib/files/tar.ts';

/** Writes a directory as a tar file, which is compressed if its name ends with `gz`. Paths in it begin at `from`. */
export function pack(directory, file, time, from = directory) {
  const entry = (path) => ({
    ...{ path: relative(from, path), type: 'file', uid: 0, gid: 0, modified: time },
    mode: statSync(path).mode & 0o100 ? 0o755 : 0o644,
    content: readFileSync(path),
  });
  const files = filesBelow(directory);
  if (files.length === 0) throw new Error(`${directory}: there is no file to pack`);
  const archive = tarFile(files.map(entry));
  writeFileSync(file, file.endsWith('gz') ? gzipSync(archive, { level: 9 }) : archive);
}

/** Paths of all files, in one order on every machine. */
export function filesBelow(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort((a, b) => (a < b ? -1 : 1));
}
