import { hasQuorum, votersOf } from '../world/etcd.ts';
import { isUp, liveness } from '../world/processes.ts';
import type { World } from '../world/world.ts';

/** Returns the first invariant of a state that is broken. */
export function broken(world: World): string | undefined {
  if (world.truth.violation) return world.truth.violation;
  return twoClusters(world) ?? sharedMember(world) ?? twoLearners(world);
}

/** Two clusters take writes at once. */
function twoClusters(world: World): string | undefined {
  const serving = world.clusters.filter((c) => hasQuorum(c, liveness(world, c)));
  return serving.length > 1
    ? `split brain: clusters of epochs ${serving.map((c) => c.epoch).join(' and ')} serve at once`
    : undefined;
}

/** One member id runs on two volumes. */
function sharedMember(world: World): string | undefined {
  const ids = world.volumes.flatMap((v, i) => (v?.wal && isUp(world.pods[i]) ? [v.wal.member] : []));
  return new Set(ids).size < ids.length ? 'OneVolumePerMember: a member id runs on two volumes' : undefined;
}

function twoLearners(world: World): string | undefined {
  const cluster = world.clusters.find((c) => c.members.length - votersOf(c).length > 1);
  return cluster ? 'two learners at once' : undefined;
}
