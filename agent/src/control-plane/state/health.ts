import { flagsOfArguments } from '../node/etcd-flags.ts';
import { hostOf } from '../node/local-address.ts';
import type { MemberFlags } from '../node/member-flags.ts';
import { readStaticPod } from '../node/static-pod.ts';
import { answerOf } from './answers.ts';
import { living } from './living.ts';
import { memberOf, type SnapshotMember } from './snapshot-members.ts';

/** Where this machine reaches what listens on all addresses. */
export const reachable = (url: string): string => url.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]');

/** What is wrong with the member; undefined: it answers, and a quorum with it. */
export async function etcdTrouble({
  metricsUrls,
  listenClientUrls,
  clientTls,
}: MemberFlags): Promise<string | undefined> {
  const urls = [...metricsUrls, ...listenClientUrls].filter((url) => /^https?:/.test(url)).map(reachable);
  let trouble = 'etcd does not answer yet';
  for (const url of urls) {
    const answer = await answerOf(new URL('/health', url).href, clientTls);
    if (answer?.status === 200) return undefined;
    if (answer) trouble = `etcd answers ${answer.status} at ${url}: it has no quorum yet`;
  }
  return trouble;
}

/** Where the API server of this manifest answers. */
export async function apiServerUrl(manifest: string): Promise<string> {
  const { args } = await readStaticPod(manifest, 'kube-apiserver');
  const flags = flagsOfArguments(args);
  const host = flags['advertise-address'] ?? '127.0.0.1';
  return `https://${host.includes(':') ? `[${host}]` : host}:${flags['secure-port'] ?? '6443'}`;
}

/** What is wrong with the API server; undefined: it is ready, or at least asks who we are. */
export async function apiServerTrouble(url: string): Promise<string | undefined> {
  const answer = await answerOf(`${url}/readyz`);
  if (!answer) return `the API server does not answer at ${url} yet`;
  return [200, 401, 403].includes(answer.status)
    ? undefined
    : `the API server is not ready (${answer.status} at ${url})`;
}

/** The member that answers at a peer URL. */
export interface PeerAnswer {
  readonly url: string;
  readonly clusterId: string;
  /** Whom it knows. */
  readonly members: readonly SnapshotMember[];
}

async function peerAt(
  url: string,
  { peerTls }: Pick<MemberFlags, 'peerTls'>,
  signal?: AbortSignal,
): Promise<PeerAnswer | undefined> {
  const answer = URL.canParse(url)
    ? await answerOf(new URL('/members', reachable(url)).href, peerTls, signal)
    : undefined;
  const id = answer?.headers['x-etcd-cluster-id'];
  return typeof id === 'string' ? { url, clusterId: id, members: membersIn(answer!.body) } : undefined;
}

function membersIn(body: string): SnapshotMember[] {
  try {
    return (JSON.parse(body) as unknown[]).map(memberOf);
  } catch {
    return [];
  }
}

/** URLs that are asked in all: what answers may name any number. */
const MOST = 32;

/** Who answers at these peer URLs, and at those that they name. */
export async function peerAnswers(
  peerUrls: readonly string[],
  member: Pick<MemberFlags, 'peerTls'>,
  signal?: AbortSignal,
): Promise<PeerAnswer[]> {
  const answers: PeerAnswer[] = [];
  const asked = new Set<string>();
  // Of those that we were given, all.
  for (let urls = [...new Set(peerUrls)]; urls.length > 0; ) {
    for (const url of urls) asked.add(url);
    const found = await Promise.all(urls.map((url) => peerAt(url, member, signal)));
    signal?.throwIfAborted();
    const level = found.filter((each) => each !== undefined);
    answers.push(...level);
    const named = new Set(level.flatMap(({ members }) => members.flatMap((each) => each.peerUrls)));
    urls = [...named].filter((url) => !asked.has(url)).slice(0, Math.max(0, MOST - asked.size));
  }
  return answers;
}

/** The cluster of the member at a peer URL. */
const clusterAt = async (url: string, member: Pick<MemberFlags, 'peerTls'>): Promise<string | undefined> =>
  (await peerAt(url, member))?.clusterId;

/** Another cluster than the one that was restored, at one of these peer URLs. */
export async function otherCluster(
  peerUrls: readonly string[],
  clusterId: string,
  member: Pick<MemberFlags, 'peerTls'>,
  counts: (answer: PeerAnswer) => boolean = () => true,
): Promise<{ url: string; host: string; clusterId: string } | undefined> {
  const found = await Promise.all(peerUrls.map((url) => peerAt(url, member)));
  const other = found.find((each) => each && each.clusterId !== clusterId && counts(each));
  return other && { url: other.url, host: hostOf(other.url), clusterId: other.clusterId };
}

/** What is wrong with the member; undefined: it serves this cluster. Also a healthy etcd may serve other data than those meant. */
export async function serveTrouble(member: MemberFlags, clusterId: string): Promise<string | undefined> {
  const trouble = await etcdTrouble(member);
  if (trouble !== undefined) return trouble;
  const { listenPeerUrls, listenClientUrls, clientTls, dataDir } = member;
  const found = await Promise.all([
    ...listenPeerUrls.map((url) => clusterAt(url, member)),
    living(listenClientUrls.map(reachable), clientTls).then(([first]) => first?.clusterId),
  ]);
  const ids = found.filter((id) => id !== undefined);
  const other = ids.find((id) => id !== clusterId);
  if (other) {
    return `etcd serves the cluster ${other}, not ${clusterId}, which was restored: it was started on other data than ${dataDir}`;
  }
  if (ids.length > 0) return undefined;
  return `etcd does not say which cluster it serves, neither at ${listenPeerUrls.join()} nor at ${listenClientUrls.join()}`;
}
