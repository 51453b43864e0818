import { readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import { sync } from '../../lib/files/directories.ts';
import { ETCD_MANIFEST } from './node.ts';

export const API_SERVER_MANIFEST = 'kube-apiserver.yaml';
/** Clients that cache what they read from the API server. A restart makes them read it again. */
const CLIENTS = ['kube-controller-manager.yaml', 'kube-scheduler.yaml'];

/** In the order in which they are moved out: the API server before etcd, so that it shuts down cleanly. */
const ALL = [...CLIENTS, API_SERVER_MANIFEST, ETCD_MANIFEST];
export const API_MANIFESTS = [API_SERVER_MANIFEST, ...CLIENTS];

const isThere = (file: string) =>
  stat(file).then(
    () => true,
    () => false,
  );

export async function manifestsIn(directory: string): Promise<string[]> {
  const files = await readdir(directory).catch((): string[] => []);
  return ALL.filter((name) => files.includes(name));
}

/** Moves all manifests out of the folder that the kubelet watches. */
export async function moveOut(from: string, to: string): Promise<void> {
  for (const name of await manifestsIn(from)) await move(name, from, to);
}

export async function moveIn(names: readonly string[], from: string, to: string): Promise<void> {
  const held = await manifestsIn(from);
  for (const name of names.filter((each) => held.includes(each))) await move(name, from, to);
}

async function move(name: string, from: string, to: string): Promise<void> {
  const target = join(to, name);
  if (await isThere(target)) {
    throw new AgentError(
      ExitCode.refused,
      `${join(from, name)} and ${target} both exist, and the agent did not write one of them; remove the wrong one`,
    );
  }
  await rename(join(from, name), target).catch((error) => {
    throw new AgentError(ExitCode.usage, `${join(from, name)} cannot be moved to ${to} (${codeOf(error)})`);
  });
  await sync(to);
  await sync(from);
}
