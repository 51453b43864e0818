import type { Scheme } from '../../protocol/record.ts';
import type { Cluster, ClusterSpec } from './observed.ts';

/** Ordinals that a cluster can have: sizes are 1 to 7. */
export const ordinals: readonly number[] = [0, 1, 2, 3, 4, 5, 6];

export const podName = (cluster: Cluster, ordinal: number): string => `${cluster.name}-${ordinal}`;

/** A URL without its scheme. A member has one address, and while TLS is switched on or off, a URL of either scheme for it. */
const addressOf = (url: string): string => url.replace(/^https?:\/\//, '');

function peerAddress({ name, namespace, domain, peerUrls }: Cluster, ordinal: number): string {
  if (peerUrls?.[ordinal] !== undefined) return addressOf(peerUrls[ordinal]);
  if (domain === undefined)
    throw new Error(
      `the StatefulSet ${name}, which names the domain of the members, does not exist; apply the manifests of the cluster again`,
    );
  return `${name}-${ordinal}.${name}-peers.${namespace}.svc.${domain}:2380`;
}

export const peerUrl = (cluster: Cluster, ordinal: number, scheme: Scheme): string =>
  `${scheme}://${peerAddress(cluster, ordinal)}`;

/** Returns the ordinal of a peer URL of either scheme; undefined: the URL is not of this cluster. */
export const ordinalOfUrl = (cluster: Cluster, url: string): number | undefined =>
  cluster.domain === undefined && cluster.peerUrls === undefined
    ? undefined
    : ordinals.find((ordinal) => peerAddress(cluster, ordinal) === addressOf(url));

/** Returns the ordinal of a member; undefined: none of its URLs is of this cluster. */
export const ordinalOfMember = (cluster: Cluster, peerUrls: readonly string[]): number | undefined =>
  peerUrls.map((url) => ordinalOfUrl(cluster, url)).find((ordinal) => ordinal !== undefined);

/** Why a cluster cannot have the size of its spec; undefined: it can. */
export function sizeProblem({ size, allowEvenSize }: ClusterSpec): string | undefined {
  if (!ordinals.includes(size - 1)) return `size ${size} is not valid; use 1 to ${ordinals.length}`;
  if (size % 2 === 0 && !allowEvenSize) {
    return `size ${size}: an even size survives no more failures than ${size - 1}; set allowEvenSize to use it anyway`;
  }
  return undefined;
}
