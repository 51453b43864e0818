import { readdir, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isInUse } from '../../etcd/offline/data-dir.ts';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import { unlessGone } from '../../lib/files/directories.ts';
import { cannotRead } from '../../lib/files/file-faults.ts';
import type { Finding, Remark } from '../../lib/finding.ts';
import { MARKER } from './restore-marker.ts';

/** Returns the directory that a link leads to, or the path if it is not a link. The directory is replaced, and the link stays. */
export async function behindLink(dataDir: string): Promise<string> {
  const path = resolve(dataDir);
  const target = await unlessGone(readlink(path)).catch((error) => {
    // It is not a link.
    if (codeOf(error) === 'EINVAL') return undefined;
    throw cannotRead(path, error, 'check it, or name another directory');
  });
  if (target === undefined) return dataDir;
  return realpath(path).catch(() => {
    throw refused(`${dataDir} is a link to ${target}, which cannot be opened; name the directory itself`);
  });
}

/**
 * Refuses a path that cannot be meant as a data directory. Everything under the path would be moved aside, so a path that is one
 * level too high or too low would take other files with it. `isOwn`: whether a directory is known to hold the member that is
 * restored.
 */
export async function refuseMisplaced(
  dataDir: string,
  storeUrl: string,
  isOwn: (dataDir: string) => Promise<boolean>,
): Promise<void> {
  const path = await realPath(dataDir);
  const names = (await unlessGone(readdir(path))) ?? [];
  const below = await dataDirsBelow(path, 2);
  // A wrong path comes first: its etcd may be the healthy one of another cluster, which must not be stopped.
  const around = await dataDirAround(path, names);
  if (around) throw refused(`${dataDir} is the inside of a data directory; name ${around}`);
  await refuseStore(dataDir, path, storeUrl);
  if (names.length > 0 && !names.includes('member') && !names.includes(MARKER)) {
    const { message, finding } = await remedyAmong(below, isOwn);
    throw refused(`${dataDir} is not empty and holds no etcd data; ${message}`, finding);
  }
  for (const each of [path, ...below]) await refuseRunning(each);
  // What the agent restores has its log inside.
  if (!names.includes(MARKER)) await refuseSeparateLog(dataDir, path);
  for (const each of ancestorsOf(path)) {
    if (await isInUse(each)) {
      throw refused(`${dataDir} lies in ${each}, which a running etcd uses; name another directory`);
    }
  }
}

async function remedyAmong(
  [first, ...more]: readonly string[],
  isOwn: (dataDir: string) => Promise<boolean>,
): Promise<Remark> {
  if (first === undefined) return { message: 'name another directory or empty it' };
  if (more.length === 0) return { message: `its etcd data is in ${first}: name that` };
  const all = [first, ...more].sort();
  const fits = await Promise.all(all.map(isOwn));
  const [own, ...others] = all.filter((_, at) => fits[at]);
  const where = `its etcd data is in ${all.join(', ')}`;
  return own === undefined || others.length > 0
    ? { message: `${where}: name the one of this member` }
    : { message: where, finding: { kind: 'otherDataDir', dataDir: own } };
}

/** The data directory whose `member` directory is this path or holds it. */
async function dataDirAround(path: string, names: readonly string[]): Promise<string | undefined> {
  if (basename(path) === 'member' || names.includes('wal') || names.includes('snap')) return dirname(path);
  for (const each of ancestorsOf(path)) {
    const isMember = basename(each) === 'member' && (await unlessGone(stat(join(each, 'snap'))));
    if (isMember) return dirname(each);
  }
  return undefined;
}

export async function refuseRunning(dataDir: string): Promise<void> {
  if (await isInUse(dataDir)) throw refused(`a running etcd uses ${dataDir}; stop it first`);
}

/** With a folder of its own for its log, etcd would replay the old log, which that folder keeps, on the restored data. */
async function refuseSeparateLog(dataDir: string, path: string): Promise<void> {
  const [data, log] = await Promise.all(['snap/db', 'wal'].map((name) => unlessGone(stat(join(path, 'member', name)))));
  if (!data || log) return;
  throw refused(`${dataDir} holds a database without its write-ahead log`, { kind: 'separateLog', dataDir });
}

async function refuseStore(dataDir: string, path: string, storeUrl: string): Promise<void> {
  if (!storeUrl.startsWith('file:')) return;
  const store = await realPath(fileURLToPath(storeUrl));
  const how = path === store ? 'is' : isBelow(store, path) ? 'holds' : isBelow(path, store) ? 'lies in' : undefined;
  if (how) throw refused(`${dataDir} ${how} the store ${storeUrl}; name another directory`);
}

const isBelow = (path: string, above: string): boolean => path.startsWith(join(above, '/'));

/** Data directories up to some levels below. One that cannot be read is left out. */
async function dataDirsBelow(path: string, levels: number): Promise<string[]> {
  if (levels === 0) return [];
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  const directories = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name));
  const found = await Promise.all(
    directories.map(async (each) => {
      const isOne = (await stat(join(each, 'member')).catch(() => undefined))?.isDirectory();
      return [...(isOne ? [each] : []), ...(await dataDirsBelow(each, levels - 1))];
    }),
  );
  return found.flat();
}

const ancestorsOf = (path: string): string[] =>
  dirname(path) === path ? [] : [dirname(path), ...ancestorsOf(dirname(path))];

/** Resolves links, also if the last parts of the path do not exist. */
const realPath = (path: string): Promise<string> =>
  realpath(path).catch(async () =>
    dirname(path) === path ? path : join(await realPath(dirname(path)), basename(path)),
  );

const refused = (message: string, finding?: Finding) =>
  new AgentError(ExitCode.refused, message, { at: 'dataDir', finding });
