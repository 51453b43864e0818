import type { Stats } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError, codeOf, ExitCode, messageOf } from '../../lib/errors.ts';
import { type TarEntry, tarFile } from './tar.ts';

/** They are held in memory, and are for keys and configuration. */
const MAX_BYTES = 8 * 1024 * 1024;

const mistake = (message: string) => new AgentError(ExitCode.usage, `--extra-path: ${message}`);

/** A tar file of these files and directories, with all that is in them. */
export async function packFiles(paths: readonly string[]): Promise<Buffer> {
  const entries: TarEntry[] = [];
  let bytes = 0;
  for (const path of paths) {
    if (!path.startsWith('/')) throw mistake(`'${path}' is not absolute; write it like /etc/kubernetes/pki`);
    for await (const entry of entriesOf(path)) {
      entries.push(entry);
      bytes += entry.content?.length ?? 0;
    }
  }
  if (bytes > MAX_BYTES) throw mistake(`${bytes} bytes are more than ${MAX_BYTES}; it is for keys and configuration`);
  try {
    return tarFile(entries);
  } catch (error) {
    throw mistake(messageOf(error));
  }
}

async function* entriesOf(path: string): AsyncIterable<TarEntry> {
  const read = async <T>(work: Promise<T>): Promise<T> =>
    work.catch((error) => {
      throw mistake(`cannot read ${path} (${codeOf(error) ?? messageOf(error)})`);
    });
  const stats = await read(lstat(path));
  const common = { path, ...attributes(stats) };
  if (stats.isSymbolicLink()) {
    yield { ...common, type: 'symlink', target: await read(readlink(path)) };
  } else if (stats.isDirectory()) {
    yield { ...common, type: 'directory' };
    for (const name of (await read(readdir(path))).sort()) yield* entriesOf(join(path, name));
  } else if (stats.isFile()) {
    if (stats.size > MAX_BYTES) throw mistake(`${path} has ${stats.size} bytes; it is for keys and configuration`);
    yield { ...common, type: 'file', content: await read(readFile(path)) };
  }
}

const attributes = ({ mode, uid, gid, mtimeMs }: Stats) => ({ mode, uid, gid, modified: Math.floor(mtimeMs / 1_000) });
