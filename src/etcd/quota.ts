// The quota of a cluster, and the memory that a Job needs to open a database of that size: docs/operations/sizing.md says why. The
// library, the reconciler and scripts/crds/ use this file.
import { defaultVolume } from '../lib/defaults.ts';
import { limitOf } from '../lib/pods/limit-of.ts';
import { amountOf } from '../resource/quantity.ts';
import type { EtcdClusterSpec } from '../resource/types.ts';

type Volume = { readonly quota?: string | undefined; readonly storage?: Partial<EtcdClusterSpec['storage']> };

const gibibyte = 1024 ** 3;
const largestDefault = 8 * gibibyte;

/** The default quota is half of the volume above 1 GiB, and at most the 8 GiB that etcd recommends. */
export const quotaBytes = ({ quota, storage }: Volume): number =>
  quota === undefined
    ? Math.min(largestDefault, Math.floor((bytes(storage?.size ?? defaultVolume) - gibibyte) / 2))
    : bytes(quota);

/** What is not a quantity has no bytes. */
const bytes = (quantity: string): number => Math.floor(amountOf(quantity) ?? 0);

/** By how much the quota may exceed the memory of etcd. */
export const quotaToMembers = 4;

/** By how much the quota may exceed the memory of a container that opens the database. */
export const quotaToMemory = 8;
export const needsToOpen = 'needs a limit of memory of at least an eighth of the quota';

/** The limit of memory, in whole MiB, with which a Job can open the database. */
export const memoryToOpen = (cluster: Volume): string =>
  `${Math.ceil(quotaBytes(cluster) / quotaToMemory / 2 ** 20)}Mi`;

/** Problem with the limit of memory of a Job that opens the database. Without a limit it has as much as the node has. */
export function openingProblem(podTemplate: unknown, cluster: Volume): string | undefined {
  const limit = limitOf(podTemplate, 'backup', 'memory');
  const memory = limit && amountOf(limit);
  if (!memory || memory * quotaToMemory >= quotaBytes(cluster)) return undefined;
  return `the Job opens the snapshot, and ${needsToOpen}: ${limit} is too little; give at least ${memoryToOpen(cluster)}`;
}
