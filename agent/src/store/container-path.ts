import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { usageError } from '../lib/errors.ts';
import type { StoreSpec } from './spec.ts';

/** Directory of the agent in the image. */
const IMAGE = '/opt/etcd-agent/';

/** The facts that decide whether a path is inside the container. */
interface Container {
  /** Path of the running script. */
  readonly program: string | undefined;
  /** Content of /proc/self/mountinfo; empty if it cannot be read. */
  readonly mounts: string;
}

const thisContainer = async (): Promise<Container> => ({
  program: process.argv[1],
  mounts: await readFile('/proc/self/mountinfo', 'utf8').catch(() => ''),
});

/** True if a path is in the container's own file system, on no mount: it is deleted when the command ends. */
export async function isOfContainer(path: string, container?: Container): Promise<boolean> {
  const { program, mounts } = container ?? (await thisContainer());
  return program?.startsWith(IMAGE) === true && mountPointOf(resolve(path), mountPointsIn(mounts)) === '/';
}

/** Throws a usage error for a path that would be deleted with the container. */
export async function refuseInContainer(at: string, path: string, container?: Container): Promise<void> {
  const found = container ?? (await thisContainer());
  if (!(await isOfContainer(path, found))) return;
  const folders = mountPointsIn(found.mounts).filter(
    (each) => !/^\/($|proc|sys|dev|etc\/(hosts|hostname|resolv))/.test(each),
  );
  throw usageError(
    `${resolve(path)} is inside the container and would be deleted with it; name a path in a mounted folder${folders.length > 0 ? `: ${folders.join(', ')}` : ''}`,
    { at },
  );
}

/** Throws a usage error for a store whose directory would be deleted with the container. */
export async function refuseStoresInContainer(
  at: string,
  stores: readonly Pick<StoreSpec, 'filesystem'>[],
  container?: Container,
): Promise<void> {
  for (const { filesystem } of stores) if (filesystem) await refuseInContainer(at, filesystem.path, container);
}

/** Mount points, without the in-memory file systems that the container runtime creates, such as /run with `ctr run`. */
const mountPointsIn = (mounts: string): string[] =>
  mounts.split('\n').flatMap((line) => {
    const [, , , , root, point] = ['', ...line.split(' ')];
    if (!point) return [];
    const path = point.replaceAll(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
    const isOwn = root === '/' && /^\/(proc|sys|dev|run)(\/|$)/.test(path);
    return isOwn ? [] : [path];
  });

const mountPointOf = (path: string, points: readonly string[]): string =>
  points
    .filter((point) => point === '/' || path === point || path.startsWith(`${point}/`))
    .reduce((deepest, point) => (point.length > deepest.length ? point : deepest), '/');
