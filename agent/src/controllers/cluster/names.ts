import type { Cluster } from './observed.ts';

/** Ordinals that a cluster can have: sizes are 1 to 7. */
export const ordinals: readonly number[] = [0, 1, 2, 3, 4, 5, 6];

export const podName = (cluster: Cluster, ordinal: number): string => `${cluster.name}-${ordinal}`;

export function peerUrl(cluster: Cluster, ordinal: number): string {
  const { name, namespace, domain, spec, peerUrls } = cluster;
  if (peerUrls?.[ordinal] !== undefined) return peerUrls[ordinal];
  if (domain === undefined)
    throw new Error(
      `the StatefulSet ${name}, which names the domain of the members, does not exist; apply the manifests of the cluster again`,
    );
  return `${spec.tls ? 'https' : 'http'}://${podName(cluster, ordinal)}.${name}-peers.${namespace}.svc.${domain}:2380`;
}

/** Returns the ordinal of a peer URL; undefined: the URL is not of this cluster. */
export const ordinalOfUrl = (cluster: Cluster, url: string): number | undefined =>
  cluster.domain === undefined && cluster.peerUrls === undefined
    ? undefined
    : ordinals.find((ordinal) => peerUrl(cluster, ordinal) === url);
