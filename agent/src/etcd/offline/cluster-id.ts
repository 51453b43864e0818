import { createHash } from 'node:crypto';

const first8 = (data: string | Buffer): Buffer => createHash('sha1').update(data).digest().subarray(0, 8);

/** Returns the peer URLs of each member in `--initial-cluster`. Like etcd, ignores empty parts. */
export function membersOf(initialCluster: string): Map<string, string[]> {
  const urls = new Map<string, string[]>();
  for (const pair of initialCluster.split(',').filter((each) => each !== '')) {
    const [name, ...url] = pair.split('=');
    urls.set(name!, [...(urls.get(name!) ?? []), asUrl(url.join('='))]);
  }
  return urls;
}

/** Normalizes a URL as Go does. */
const asUrl = (text: string): string => text.trim().replace(/^[a-z]+:/i, (scheme) => scheme.toLowerCase());

const idOf = (hash: Buffer): string => hash.readBigUInt64BE().toString(16);

/**
 * Computes the ids that etcd and etcdutl derive from `--initial-cluster` and the token, whatever the data are: the id of the
 * cluster, and the id of each member by its name. Returns undefined if the list is not valid.
 */
export function idsOf(
  initialCluster: string,
  token: string,
): { readonly clusterId: string; readonly memberIds: ReadonlyMap<string, string> } | undefined {
  const urls = membersOf(initialCluster);
  if (urls.size === 0 || [...urls.values()].flat().includes('')) return undefined;
  const members = new Map([...urls].map(([name, each]) => [name, first8(each.sort().join('') + token)]));
  const clusterId = idOf(first8(Buffer.concat([...members.values()].sort(Buffer.compare))));
  return { clusterId, memberIds: new Map([...members].map(([name, hash]) => [name, idOf(hash)])) };
}

export const clusterIdOf = (initialCluster: string, token: string): string | undefined =>
  idsOf(initialCluster, token)?.clusterId;

/**
 * Computes the id of a cluster with one member, which etcd and etcdutl derive from its peer URL and its token alone.
 */
export const loneClusterId = (peerUrl: string, token: string): string => idOf(first8(first8(peerUrl + token)));
