import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { usageError } from '../../lib/errors.ts';
import { API_MANIFESTS } from './manifests.ts';
import type { MemberFlags } from './member-flags.ts';
import { ETCD_MANIFEST, fromStaticPod } from './node.ts';
import { readStaticPod } from './static-pod.ts';

type Places = Pick<MemberFlags, 'dataDir' | 'listenClientUrls' | 'listenPeerUrls'>;

/**
 * Refuses a second manifest of etcd or the API server. The kubelet starts every file in its folder, whatever its name is, so it
 * starts a copy as soon as the first one is moved out.
 */
export async function refuseCopies({ member }: { readonly member: Places }, manifestsDir: string): Promise<void> {
  const names = await readdir(manifestsDir).catch((): string[] => []);
  for (const name of names) {
    // The kubelet ignores names that begin with a dot.
    if (name.startsWith('.') || [ETCD_MANIFEST, ...API_MANIFESTS].includes(name)) continue;
    const file = join(manifestsDir, name);
    const what = (await isFile(file)) ? await copyOf(file, member) : undefined;
    if (what === undefined) continue;
    throw usageError(
      `${file}: the kubelet starts this file too, and it is another manifest of ${what}; move it out of ${manifestsDir}`,
    );
  }
}

async function copyOf(file: string, member: Places): Promise<string | undefined> {
  if (await defines(file, 'kube-apiserver')) return 'the API server';
  if (!(await defines(file, 'etcd'))) return undefined;
  const other = await fromStaticPod(file).catch(() => undefined);
  // Another etcd on this node, for example one for events.
  return other && !sharesPlace(other.member, member) ? undefined : 'etcd';
}

const sharesPlace = (one: Places, other: Places): boolean =>
  one.dataDir === other.dataDir || urlsOf(one).some((url) => urlsOf(other).includes(url));

const urlsOf = ({ listenClientUrls, listenPeerUrls }: Places): string[] => [...listenClientUrls, ...listenPeerUrls];

const defines = (file: string, container: string): Promise<boolean> =>
  readStaticPod(file, container).then(
    () => true,
    () => false,
  );

const isFile = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.isFile(),
    () => false,
  );
