import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AgentError, ExitCode } from '../lib/errors.ts';
import type { StoreSpec } from './spec.ts';

/** Where the image has the agent. */
const IMAGE = '/opt/etcd-agent/';

interface Surroundings {
  /** The script that runs. */
  readonly program: string | undefined;
  /** Of /proc/self/mountinfo. */
  readonly mounts: string;
}

const surroundings = async (): Promise<Surroundings> => ({
  program: process.argv[1],
  mounts: await readFile('/proc/self/mountinfo', 'utf8').catch(() => ''),
});

/** Whether a path is of the container itself, which goes when the command ends: none of its mounts holds it. */
export async function isOfContainer(path: string, where?: Surroundings): Promise<boolean> {
  const { program, mounts } = where ?? (await surroundings());
  return program?.startsWith(IMAGE) === true && mountPointOf(resolve(path), mountPointsIn(mounts)) === '/';
}

/** Throws usage for a file that would be gone together with the container. */
export async function refuseInContainer(flag: string, path: string, where?: Surroundings): Promise<void> {
  const found = where ?? (await surroundings());
  if (!(await isOfContainer(path, found))) return;
  const folders = mountPointsIn(found.mounts).filter(
    (each) => !/^\/($|proc|sys|dev|etc\/(hosts|hostname|resolv))/.test(each),
  );
  throw new AgentError(
    ExitCode.usage,
    `${flag}: ${resolve(path)} lies in the container, and would be removed with it; name a file in a folder that is mounted${folders.length > 0 ? `: ${folders.join(', ')}` : ''}`,
  );
}

/** The same for stores that are a folder. */
export async function refuseStoresInContainer(
  flag: string,
  stores: readonly Pick<StoreSpec, 'filesystem'>[],
  where?: Surroundings,
): Promise<void> {
  for (const { filesystem } of stores) if (filesystem) await refuseInContainer(flag, filesystem.path, where);
}

/** What holds a path of its own: not what the runtime makes in memory for the container, as `ctr run` does at /run. */
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
