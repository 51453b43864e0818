import { hasQuorum, votersOf } from '../world/etcd.ts';
import { cutOff, isUp, liveness } from '../world/processes.ts';
import type { World } from '../world/world.ts';
import { current } from './truth.ts';

/** Returns the first invariant of a state that is broken. */
export function broken(world: World): string | undefined {
  if (world.truth.violation) return world.truth.violation;
  return twoClusters(world) ?? sharedMember(world) ?? twoLearners(world) ?? separated(world);
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

/** Schemes or certificates keep a voter that runs from another one. A late call may have cut its URLs. */
function separated(world: World): string | undefined {
  const cluster = current(world);
  const found = cluster && !world.truth.cut ? cutOff(world, cluster) : undefined;
  return found && `QuorumKept: members ${found[0].ordinal} and ${found[1].ordinal} run and cannot reach each other`;
}

function twoLearners(world: World): string | undefined {
  const cluster = world.clusters.find((c) => c.members.length - votersOf(c).length > 1);
  return cluster ? 'two learners at once' : undefined;
}
