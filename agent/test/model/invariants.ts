import { hasQuorum, votersOf } from './etcd.ts';
import { isUp, liveness } from './processes.ts';
import type { World } from './world.ts';

/** What must hold in every state. The first that does not. */
export function broken(world: World): string | undefined {
  if (world.truth.violation) return world.truth.violation;
  return twoClusters(world) ?? sharedMember(world) ?? twoLearners(world);
}

/** Two clusters that take writes at once (protocol.md: OneServingCluster, OldEpochNeverServes). */
function twoClusters(world: World): string | undefined {
  const serving = world.clusters.filter((c) => hasQuorum(c, liveness(world, c)));
  return serving.length > 1
    ? `split brain: clusters of epochs ${serving.map((c) => c.epoch).join(' and ')} serve at once`
    : undefined;
}

/** One member id on two volumes (protocol.md: OneVolumePerMember). */
function sharedMember(world: World): string | undefined {
  const ids = world.volumes.flatMap((v, i) => (v?.wal && isUp(world.pods[i]) ? [v.wal.member] : []));
  return new Set(ids).size < ids.length ? 'OneVolumePerMember: a member id runs on two volumes' : undefined;
}

function twoLearners(world: World): string | undefined {
  const cluster = world.clusters.find((c) => c.members.length - votersOf(c).length > 1);
  return cluster ? 'two learners at once' : undefined;
}
