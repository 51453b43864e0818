import { answerOf } from './answers.ts';
import { flagsOfArguments } from './etcd-flags.ts';
import { hostOf } from './local-address.ts';
import type { MemberFlags } from './member-flags.ts';
import { readStaticPod } from './static-pod.ts';

const reachable = (url: string): string => url.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]');

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

/** A member that still serves the cluster of before: with it clients would see data that are to be given up. */
export async function oldMember(
  peerUrls: readonly string[],
  clusterId: string,
  { peerTls }: MemberFlags,
): Promise<string | undefined> {
  const found = await Promise.all(
    peerUrls.map(async (url) => {
      const answer = await answerOf(new URL('/members', url).href, peerTls);
      const id = answer?.headers['x-etcd-cluster-id'];
      return typeof id === 'string' && id !== clusterId ? hostOf(url) : undefined;
    }),
  );
  const host = found.find((each) => each !== undefined);
  return host === undefined ? undefined : `etcd on ${host} still serves the old cluster; run this command there too`;
}
