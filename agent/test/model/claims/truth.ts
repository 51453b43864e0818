import type { RecordDoc } from '../../../src/protocol/record.ts';
import { type Cluster, canCommit, quorum, votersOf } from '../world/etcd.ts';
import { clusterById, liveness } from '../world/processes.ts';
import type { World } from '../world/world.ts';

/** Facts of the world for the checks. */

export const current = (world: World): Cluster | undefined => clusterById(world, world.record?.doc.clusterId);

export type OpOf<K> = Extract<NonNullable<RecordDoc['op']>, { kind: K }>;
export function opOf<K extends string>(world: World, kind: K): OpOf<K> | undefined {
  const op = world.record?.doc.op;
  return op?.kind === kind ? (op as OpOf<K>) : undefined;
}

/** Every voter runs and has the whole log. */
export function allUp(world: World): boolean {
  const cluster = current(world);
  if (!cluster) return false;
  const { upToDate } = liveness(world, cluster);
  return votersOf(cluster).every((m) => upToDate.has(m.id));
}

export function othersUp(world: World, memberId: string): boolean {
  const cluster = current(world)!;
  const { upToDate } = liveness(world, cluster);
  return votersOf(cluster).every((m) => m.id === memberId || upToDate.has(m.id));
}

export const serves = (world: World): boolean => {
  const cluster = current(world);
  return cluster !== undefined && canCommit(cluster, liveness(world, cluster));
};

/** Restores, recoveries and deletions stop all members on request. */
export const isDraining = (world: World): boolean =>
  ['Restore', 'Recover', 'Delete'].includes(world.record?.doc.op?.kind ?? '');

/** Removals keep a quorum (protocol.md: QuorumKept). */
export function checkLoss(world: World, memberId: string): string | undefined {
  const cluster = current(world);
  const member = cluster?.members.find((m) => m.id === memberId);
  if (!cluster || !member || member.learner) return undefined;
  const voters = votersOf(cluster);
  const { running } = liveness(world, cluster);
  const left = voters.filter((m) => m.id !== memberId && running.has(m.id)).length;
  return left < quorum(voters.length - 1) ? 'QuorumKept: a removal that leaves less than a quorum' : undefined;
}

/** Clients may have written to the cluster, and its final backup is required and not skipped. */
export const needsFinalBackup = ({ spec, truth, record }: World): boolean =>
  spec?.finalBackup === true && !spec.skipFinalBackup && truth.served.includes(record?.doc.clusterUid ?? '');

export const ownBackups = (world: World): number => world.store.filter((s) => !s.foreign).length;

/** A recreated pod may start on the template's version. */
export const mayStart = (world: World, doc: RecordDoc): boolean =>
  !world.sts?.image && doc.versions.allowedMinors.includes(shortMinor(world.sts?.version ?? ''));

export const shortMinor = (version: string): string => version.split('.').slice(0, 2).join('.');

export function checkRemove(world: World, memberId: string, young: boolean): string | undefined {
  if (opOf(world, 'Remove')?.memberId !== memberId) return 'IntentFirst: a removal without a durable intent';
  if (young) return 'a new lease holder removes at once';
  return checkLoss(world, memberId);
}
