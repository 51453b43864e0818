import { copyFile, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import { sync, unlessGone } from '../../lib/files/directories.ts';
import { ifThere } from '../../lib/files/file-faults.ts';
import { replaceFile } from '../../lib/files/replace-file.ts';
import { setYaml } from '../../lib/input/yaml.ts';
import { ETCD_MANIFEST } from './node.ts';

export const API_SERVER_MANIFEST = 'kube-apiserver.yaml';
/** Clients that cache what they read from the API server. A restart makes them read it again. */
const CLIENTS = ['kube-controller-manager.yaml', 'kube-scheduler.yaml'];

const ALL = [...CLIENTS, API_SERVER_MANIFEST, ETCD_MANIFEST];
export const API_MANIFESTS = [API_SERVER_MANIFEST, ...CLIENTS];

const STARTED_AT = ['metadata', 'annotations', 'cdk8s-etcd.dev/started-at'];

const isThere = async (file: string) => (await unlessGone(stat(file))) !== undefined;

export async function manifestsIn(directory: string): Promise<string[]> {
  const files = (await ifThere(directory, readdir(directory), 'it may hold manifests; check it')) ?? [];
  return ALL.filter((name) => files.includes(name));
}

/** Moves these manifests, as far as they are there: out of the folder that the kubelet watches, or back. */
export async function moveManifests(names: readonly string[], from: string, to: string): Promise<void> {
  const held = await manifestsIn(from);
  for (const name of names.filter((each) => held.includes(each))) await move(name, from, to);
}

/**
 * Moves them to the kubelet, which then starts them at once. It waits up to five minutes before it starts a container that
 * crashes again and again, and counts by the UID of the pod, which is a hash of the manifest: an annotation makes a new one.
 */
export async function startManifests(names: readonly string[], from: string, to: string): Promise<void> {
  for (const name of names) if (!(await isThere(join(to, name)))) await annotate(join(from, name));
  await moveManifests(names, from, to);
}

/** A manifest that cannot be annotated is started as it is: late is better than not. */
async function annotate(file: string): Promise<void> {
  const annotated = async () => setYaml(await readFile(file, 'utf8'), STARTED_AT, new Date().toISOString());
  await annotated()
    .then((text) => replaceFile(file, text))
    .catch(() => {});
}

async function move(name: string, from: string, to: string): Promise<void> {
  const source = join(from, name);
  const target = join(to, name);
  try {
    if (!(await isThere(target))) await moveFile(source, target);
    // A run that was killed between the copy and the removal leaves both.
    else if (await isSame(source, target)) await rm(source);
    else {
      throw new AgentError(
        ExitCode.refused,
        `${source} and ${target} both exist, and the agent did not write one of them; remove the wrong one`,
      );
    }
  } catch (error) {
    if (error instanceof AgentError) throw error;
    throw new AgentError(ExitCode.usage, `${source} cannot be moved to ${to} (${codeOf(error)})`);
  }
  await sync(to);
  await sync(from);
}

/** Another mount needs a copy, also if it leads to the same file system. */
async function moveFile(source: string, target: string): Promise<void> {
  try {
    await rename(source, target);
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error;
    await copyWhole(source, target);
    await rm(source);
  }
}

async function copyWhole(source: string, target: string): Promise<void> {
  // The kubelet ignores names that begin with a dot.
  const copy = join(dirname(target), `.${basename(target)}.copy`);
  try {
    await copyFile(source, copy);
    await sync(copy);
    await rename(copy, target);
  } catch (error) {
    await rm(copy, { force: true }).catch(() => {});
    throw error;
  }
  await sync(dirname(target));
}

const isSame = async (one: string, other: string): Promise<boolean> =>
  (await readFile(one)).equals(await readFile(other));
