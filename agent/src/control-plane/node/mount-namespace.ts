import { readFile, readlink } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** A mount: a directory of a file system, and where it is mounted. */
interface Mount {
  readonly device: string;
  readonly root: string;
  readonly point: string;
  /** What its file system is on, such as `/dev/sda1`. */
  readonly source: string;
}

/**
 * Returns a function that maps a path of a process to the path of the same file here, or to undefined if it is on no file system of
 * this machine. An etcd in a container, or in a service with directories of its own, names other paths than this machine does.
 */
export async function pathsOf(pid: number, proc = '/proc'): Promise<(path: string) => string | undefined> {
  const [theirs, ours] = await Promise.all([pid, 'self'].map((each) => mountsOf(`${proc}/${each}/mountinfo`)));
  const isOfMachine = (await namespaceOf(proc, pid)) === (await namespaceOf(proc, 1));
  return (path) => mapped(path, theirs!, ours!) ?? (isOfMachine ? path : undefined);
}

/** Returns a function that says where the files of a process are, whether or not this machine, or this container, mounts them. */
export async function sourcesOf(pid: number, proc = '/proc'): Promise<(path: string) => string | undefined> {
  const mounts = await mountsOf(`${proc}/${pid}/mountinfo`);
  return (path) => {
    const mount = mountOf(path, mounts);
    return mount && `${join(mount.root, relative(mount.point, path))} of ${mount.source}`;
  };
}

const namespaceOf = (proc: string, pid: number): Promise<string | undefined> =>
  readlink(`${proc}/${pid}/ns/mnt`).catch(() => undefined);

function mapped(path: string, theirs: readonly Mount[], ours: readonly Mount[]): string | undefined {
  const mount = mountOf(path, theirs);
  if (!mount) return undefined;
  const source = join(mount.root, relative(mount.point, path));
  const found = ours
    .filter(({ device, root }) => device === mount.device && isBelow(source, root))
    .map((each) => ({ each, here: join(each.point, relative(each.root, source)) }))
    // Another mount may hide it.
    .filter(({ each, here }) => mountOf(here, ours) === each)
    .map(({ here }) => here);
  return found.includes(path) ? path : found[0];
}

/** Of several mounts at one place, the last one counts. */
const mountOf = (path: string, mounts: readonly Mount[]): Mount | undefined =>
  mounts
    .filter(({ point }) => isBelow(path, point))
    .reduce<Mount | undefined>(
      (best, each) => (best && best.point.length > each.point.length ? best : each),
      undefined,
    );

const isBelow = (path: string, directory: string): boolean => !relative(directory, path).startsWith('..');

async function mountsOf(file: string): Promise<Mount[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    const [, , device, root, point] = line.split(' ');
    const [, source = ''] = line.split(' - ')[1]?.split(' ') ?? [];
    if (!device || !root || !point) return [];
    // So does the kernel mark a directory that was deleted here and is still mounted there.
    return [
      { device, root: unescaped(root).replace(/\/\/deleted$/, ''), point: unescaped(point), source: unescaped(source) },
    ];
  });
}

const unescaped = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
