import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { TlsFiles } from '../../etcd/tls.ts';
import { CONTROL } from '../../lib/quoted.ts';
import { serviceAddress } from '../node/certificates/kubeadm-certificates.ts';
import { flagsOfArguments } from '../node/etcd-flags.ts';
import { hostOf } from '../node/local-address.ts';
import type { MemberFlags } from '../node/member-flags.ts';
import { readStaticPod, unknownIn } from '../node/static-pod.ts';
import { httpGet } from './http-get.ts';
import { liveRevisions } from './live-revisions.ts';
import { type DatabaseMember, memberOf, type SnapshotMember, sharesUrl } from './snapshot-members.ts';

const LIMIT = 3_000;

/** Replaces a listen address that means "all addresses" with the loopback address. */
export const reachable = (url: string): string => url.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]');

/** Describes what is wrong with the member. Returns undefined if it is healthy, which requires a quorum. */
export const etcdTrouble = async (member: MemberFlags): Promise<string | undefined> =>
  (await unhealthy(member))?.trouble;

interface Unhealthy {
  readonly trouble: string;
  /** An alarm is raised. Whether there is a quorum is then unknown. */
  readonly isAlarm?: boolean;
}

async function unhealthy({ metricsUrls, listenClientUrls, clientTls }: MemberFlags): Promise<Unhealthy | undefined> {
  const urls = [...metricsUrls, ...listenClientUrls].filter((url) => /^https?:/.test(url)).map(reachable);
  let found: Unhealthy = { trouble: 'etcd does not answer yet' };
  for (const url of urls) {
    const answer = await httpGet(new URL('/health', url).href, clientTls);
    if (answer?.status === 200) return undefined;
    if (answer) found = reasonOf(answer.body, `${answer.status} at ${url}`);
  }
  return found;
}

/** etcd 3.5 and newer name a reason. */
function reasonOf(body: string, answer: string): Unhealthy {
  const [, reason] = /"reason":"([^"]*)"/.exec(body) ?? [];
  const [, alarm] = /^ALARM (\w+)$/.exec(reason ?? '') ?? [];
  if (alarm === 'NOSPACE') {
    return { trouble: 'etcd has the alarm NOSPACE: it serves reads and refuses every write', isAlarm: true };
  }
  if (alarm !== undefined) {
    return { trouble: `etcd has the alarm ${alarm}: it refuses every read and write`, isAlarm: true };
  }
  if (reason === undefined) return { trouble: `etcd answers ${answer}: it has no quorum, or an alarm`, isAlarm: true };
  return { trouble: `etcd answers ${answer}: it has no quorum yet (${reason.replaceAll(CONTROL, '?').slice(0, 200)})` };
}

/** The API server of a manifest: its URL, and the client certificate that it shows to kubelets. kubeadm's may read everything. */
export interface ApiServer {
  readonly url: string;
  readonly clientTls: TlsFiles;
  /** Address of its Service, and its name there. Empty without a range of Services. */
  readonly names: readonly string[];
}

export async function apiServerOf(manifest: string): Promise<ApiServer> {
  const { args, hostPath } = await readStaticPod(manifest, 'kube-apiserver');
  const flags = flagsOfArguments(args);
  const given = flags['advertise-address'];
  const host = given === undefined || unknownIn(given) !== undefined ? '127.0.0.1' : given;
  const [cert, key] = [flags['kubelet-client-certificate'], flags['kubelet-client-key']];
  const service = serviceAddress(flags);
  return {
    names: service === undefined ? [] : [service, 'kubernetes.default.svc'],
    url: `https://${host.includes(':') ? `[${host}]` : host}:${flags['secure-port'] ?? '6443'}`,
    clientTls: cert && key ? { cert: hostPath(cert), key: hostPath(key) } : {},
  };
}

/** The names of the API server that its certificate does not have. Pods check them. Without an answer nothing is known. */
export async function unservedNames({ url, names }: ApiServer): Promise<string[]> {
  const found = await Promise.all(names.map(async (name) => ((await isServed(url, name)) === false ? [name] : [])));
  return found.flat();
}

async function isServed(url: string, name: string): Promise<boolean | undefined> {
  const { port } = new URL(url);
  const [isAddress, limit] = [isIP(name) !== 0, AbortSignal.timeout(LIMIT)];
  const to = { host: hostOf(url), port: Number(port || '443'), rejectUnauthorized: false };
  const socket = connect({ ...to, servername: isAddress ? undefined : name });
  try {
    await once(socket, 'secureConnect', { signal: limit });
    const certificate = socket.getPeerX509Certificate();
    return (isAddress ? certificate?.checkIP(name) : certificate?.checkHost(name)) !== undefined;
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

/** Describes why the API server is not ready. While it starts it refuses everybody, so a refusal says nothing. */
export async function apiServerTrouble({ url, clientTls }: ApiServer): Promise<string | undefined> {
  let refused: number | undefined;
  // Anonymous requests may be switched off.
  for (const tls of [{}, clientTls]) {
    const answer = await httpGet(`${url}/readyz`, tls);
    if (!answer) return `the API server does not answer at ${url} yet`;
    if (answer.status === 200) return undefined;
    if (![401, 403].includes(answer.status)) return `the API server is not ready (${answer.status} at ${url}/readyz)`;
    refused = answer.status;
  }
  return `the API server does not say whether it is ready: it answers ${refused} at ${url}/readyz, also to ${clientTls.cert ?? 'anonymous requests'}`;
}

/** Response of a member at a peer URL. */
export interface PeerAnswer {
  readonly url: string;
  readonly clusterId: string;
  /** Members of its cluster. */
  readonly members: readonly (SnapshotMember & Partial<Pick<DatabaseMember, 'isLearner'>>)[];
}

async function peerAt(
  url: string,
  { peerTls }: Pick<MemberFlags, 'peerTls'>,
  signal?: AbortSignal,
): Promise<PeerAnswer | undefined> {
  // Null also for a URL without a hierarchy, such as `a:b`, which no path can follow.
  const members = URL.parse('/members', reachable(url));
  const answer = members ? await httpGet(members.href, peerTls, signal) : undefined;
  const id = answer?.headers['x-etcd-cluster-id'];
  return typeof id === 'string' ? { url, clusterId: id, members: membersIn(answer!.body) } : undefined;
}

function membersIn(body: string): DatabaseMember[] {
  try {
    return (JSON.parse(body) as unknown[]).map(memberOf);
  } catch {
    return [];
  }
}

/** Total number of URLs to query: the responses may name any number of further URLs. */
const MOST = 32;

/** Queries these peer URLs, and the peer URLs that the responses name. */
export async function peerAnswers(
  peerUrls: readonly string[],
  member: Pick<MemberFlags, 'peerTls'>,
  signal?: AbortSignal,
): Promise<PeerAnswer[]> {
  const answers: PeerAnswer[] = [];
  const queried = new Set<string>();
  // The given URLs are always queried, even if they exceed the limit.
  for (let urls = [...new Set(peerUrls)]; urls.length > 0; ) {
    for (const url of urls) queried.add(url);
    const found = await Promise.all(urls.map((url) => peerAt(url, member, signal)));
    signal?.throwIfAborted();
    const level = found.filter((each) => each !== undefined);
    answers.push(...level);
    const named = new Set(level.flatMap(({ members }) => members.flatMap((each) => each.peerUrls)));
    urls = [...named].filter((url) => !queried.has(url)).slice(0, Math.max(0, MOST - queried.size));
  }
  return answers;
}

/** Cluster id of the member at a peer URL. */
const clusterAt = async (url: string, member: Pick<MemberFlags, 'peerTls'>): Promise<string | undefined> =>
  (await peerAt(url, member))?.clusterId;

/** Finds a cluster other than the restored one at these peer URLs. */
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

/**
 * Describes what is wrong with the member. Returns undefined if it is healthy and serves this cluster, not other data.
 * `clearAlarms` is called when only an alarm is wrong; it returns why there still is one.
 */
export async function serveTrouble(
  member: MemberFlags,
  clusterId: string,
  clearAlarms?: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const found = await unhealthy(member);
  if (found && !found.isAlarm) return found.trouble;
  return (await otherData(member, clusterId)) ?? (clearAlarms ? clearAlarms() : found?.trouble);
}

/**
 * The members that the etcd of this node no longer lists, if it lists itself alone: `--force-new-cluster` removes all others without
 * another cluster id. Others come and go by `etcdctl member`. An etcd that does not answer peers is not asked.
 */
export async function removedMembers(
  member: MemberFlags,
  restored: readonly SnapshotMember[],
): Promise<readonly SnapshotMember[]> {
  const found = await Promise.all(member.listenPeerUrls.map((url) => peerAt(url, member)));
  const { members = [] } = found.find((each) => each !== undefined) ?? {};
  const [self, ...others] = members;
  return self && others.length === 0 ? restored.filter((each) => !sharesUrl(each, self)) : [];
}

async function otherData(member: MemberFlags, clusterId: string): Promise<string | undefined> {
  const { listenPeerUrls, listenClientUrls, clientTls, dataDir } = member;
  const found = await Promise.all([
    ...listenPeerUrls.map((url) => clusterAt(url, member)),
    liveRevisions(listenClientUrls.map(reachable), clientTls).then(([first]) => first?.clusterId),
  ]);
  const ids = found.filter((id) => id !== undefined);
  const other = ids.find((id) => id !== clusterId);
  if (other) {
    return `etcd serves the cluster ${other}, not the restored cluster ${clusterId}: it was started on data other than ${dataDir}`;
  }
  if (ids.length > 0) return undefined;
  return `etcd does not report its cluster id, neither at ${listenPeerUrls.join()} nor at ${listenClientUrls.join()}`;
}
