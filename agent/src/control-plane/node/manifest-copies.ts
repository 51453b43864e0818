import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { usageError } from '../../lib/errors.ts';
import { ifThere } from '../../lib/files/file-faults.ts';
import { needSamePort, portOf } from './local-address.ts';
import { API_MANIFESTS } from './manifests.ts';
import type { MemberFlags } from './member-flags.ts';
import { ETCD_MANIFEST, fromStaticPod } from './node.ts';
import { readStaticPod, unknownIn } from './static-pod.ts';

type Places = Pick<MemberFlags, 'dataDir' | 'listenClientUrls' | 'listenPeerUrls'>;

interface Node {
  readonly member: Places;
  /** The data directory as etcd sees it. */
  readonly dataDir: string;
}

/**
 * Refuses a second manifest of etcd or the API server. The kubelet starts every file in its folder, whatever its name is, so it
 * starts a copy as soon as the first one is moved out.
 */
export async function refuseCopies(node: Node, manifestsDir: string): Promise<void> {
  const names = (await ifThere(manifestsDir, readdir(manifestsDir), 'it may hold copies of manifests; check it')) ?? [];
  for (const name of names) {
    // The kubelet ignores names that begin with a dot.
    if (name.startsWith('.') || [ETCD_MANIFEST, ...API_MANIFESTS].includes(name)) continue;
    const file = join(manifestsDir, name);
    const what = (await isFile(file)) ? await copyOf(file, node) : undefined;
    if (what === undefined) continue;
    throw usageError(
      `${file}: the kubelet starts this file too, and it is another manifest of ${what}; move it out of ${manifestsDir}`,
    );
  }
}

async function copyOf(file: string, node: Node): Promise<string | undefined> {
  if (await defines(file, 'kube-apiserver')) return 'the API server';
  if (!(await defines(file, 'etcd'))) return undefined;
  const other = await fromStaticPod(file).catch(() => undefined);
  // Another etcd on this node, for example one for events.
  const isCopy = other ? sharesPlace(other.member, node.member) : mayShare(await readFile(file, 'utf8'), node);
  return isCopy ? 'etcd' : undefined;
}

const sharesPlace = (one: Places, other: Places): boolean =>
  resolve(one.dataDir) === resolve(other.dataDir) ||
  urlsOf(one).some((url) => urlsOf(other).some((each) => needSamePort(url, each)));

/** For an etcd whose flags cannot be read, because a shell starts it or only the kubelet knows a value. */
const mayShare = (text: string, { member, dataDir }: Node): boolean =>
  unknownIn(text) !== undefined ||
  [member.dataDir, dataDir].some((path) => names(text, resolve('/', path), /^[\w.-]/)) ||
  urlsOf(member).some((url) => names(text, `:${portOf(url)}`, /^\d/));

/** `more`: what follows where the text names something longer. */
const names = (text: string, what: string, more: RegExp): boolean =>
  text
    .split(what)
    .slice(1)
    .some((rest) => !more.test(rest));

const urlsOf = ({ listenClientUrls, listenPeerUrls }: Places): string[] => [...listenClientUrls, ...listenPeerUrls];

/** What cannot be read or parsed here starts nothing: the kubelet reads the same file. */
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
