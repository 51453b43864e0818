import { fresh, withClaim, withPod, withVolume } from './change.ts';
import { look } from './gate.ts';
import { catchUp, isUp, settled, startEtcd } from './processes.ts';
import type { Job, World } from './world.ts';

/** Steps of the world without a fault: Kubernetes, gates, etcd, Jobs. */
export interface Step {
  /** A line of a story. */
  readonly text: string;
  readonly next: World;
}

export function steps(world: World): Step[] {
  const found: Step[] = [];
  const add = (text: string, next: World | undefined): void => {
    if (next && next !== world) found.push({ text, next });
  };
  const { sts } = world;
  if (sts && (sts.seenMinEpoch !== sts.minEpoch || sts.seenRoots !== sts.roots))
    add('the StatefulSet controller sees the new template', {
      ...world,
      sts: { ...sts, seenMinEpoch: sts.minEpoch, seenRoots: sts.roots },
    });
  for (let i = 0; i < world.pods.length; i++) {
    const pod = world.pods[i];
    if (pod?.terminating) add(`pod ${i} is gone`, podGone(world, i));
    else if (pod && i >= (world.sts?.replicas ?? 0)) add(`the StatefulSet takes pod ${i} away`, scaledDown(world, i));
    if (world.claims[i]?.deleting) add(`the volume claim of ${i} is gone`, claimGone(world, i));
    if (!pod) add(`pod ${i} is created`, podCreated(world, i, true));
    if (pod?.state === 'new' && !pod.cut && !pod.terminating) add(`pod ${i} gets its volume`, admitted(world, i, true));
    if (pod && pod.state !== 'new' && !pod.terminating)
      add(`the gate of ${i} looks at the record`, look(world, i, true));
    if (pod?.state === 'stopped' && !pod.cut) add(`etcd of ${i} is started again`, startEtcd(world, i));
    add(`member at ${i} catches up`, catchUp(world, i));
  }
  if (world.backup) add('the scheduled backup ends', { ...world, backup: undefined });
  for (const job of world.jobs) if (job.deleting) add(`Job ${job.kind} is gone`, withoutJob(world, job));
  for (const job of world.jobs)
    if (job.state === 'Running' && !job.deleting) add(`Job ${job.kind} runs`, ran(world, job));
  return found;
}

/** Creates a pod. `api`: the gate's first pass reaches the API server. */
export function podCreated(world: World, i: number, api: boolean): World | undefined {
  const { sts, spec } = world;
  if (!sts || i >= sts.replicas || world.pods[i] || world.claims[i]?.deleting) return undefined;
  const [named, uid] = fresh(world, 'u');
  const pod = {
    uid,
    version: sts.version,
    change: sts.change,
    minEpoch: sts.seenMinEpoch,
    roots: sts.seenRoots,
    loaded: world.roots,
    image: sts.image,
    broken: sts.broken,
    tls: sts.tls,
    state: 'new' as const,
  };
  const created = withPod(named, i, pod);
  if (spec?.ephemeral) return admitted(withVolume(created, i, {}), i, api);
  if (world.claims[i]) return admitted(created, i, api);
  return admitted(claimed(created, i), i, api);
}

function claimed(world: World, i: number): World {
  const [named, uid] = fresh(world, 'q');
  const [next, rv] = fresh(named, 'r');
  return withVolume(withClaim(next, i, { uid, rv }), i, {});
}

/** Binds the pod to its volume and runs its gate. */
function admitted(world: World, i: number, api: boolean): World {
  if (world.claims[i]?.dead) return world.claims[i].deleting ? claimed(world, i) : world;
  if (isCrowdedOut(world, i) || world.pods[i]!.broken) return world;
  const pod = world.pods[i]!;
  return look(withPod(world, i, { ...pod, state: 'wait' }), i, api);
}

/** Another pod runs on the node of its volume, and two pods may not share a node. */
export const isCrowdedOut = (world: World, i: number): boolean =>
  world.claims.some((claim, other) => claim?.on === i && world.pods[other]);

export function podGone(world: World, i: number): World | undefined {
  const pod = world.pods[i];
  if (!pod || pod.cut) return undefined;
  const gone = withPod(world, i, null);
  return settled(world.spec?.ephemeral || !world.claims[i] ? withVolume(gone, i, null) : gone);
}

function scaledDown(world: World, i: number): World | undefined {
  const pod = world.pods[i]!;
  return pod.cut ? withPod(world, i, { ...pod, terminating: true }) : podGone(world, i);
}

/** A claim is protected until its pod is gone, unless that pod never started. */
function claimGone(world: World, i: number): World | undefined {
  const pod = world.pods[i];
  if (pod && pod.state !== 'new') return undefined;
  // The StatefulSet controller recreates the claim of a pod that waits for it, unless the pod is being deleted.
  if (pod && !pod.terminating) return claimed(world, i);
  return withVolume(withClaim(world, i, null), i, null);
}

const withoutJob = (world: World, job: Job): World => ({ ...world, jobs: world.jobs.filter((j) => j !== job) });

export function withJob(world: World, job: Job, changed: Job): World {
  return { ...world, jobs: world.jobs.map((j) => (j === job ? changed : j)) };
}

function ran(world: World, job: Job): World {
  if (job.stuck) return world;
  if (job.kind === 'restore') {
    if (job.serving) return world;
    if (!job.snapshot || job.snapshot.bad) return withJob(world, job, { ...job, state: 'Failed' });
    return withJob(world, job, { ...job, serving: true });
  }
  const snapshot = world.refusing ? undefined : snapshotNow(world, job);
  if (!snapshot)
    return withJob(world, job, { ...job, state: 'Failed', snapshot: { id: job.uid, writes: 0, bad: true } });
  const done = withJob(world, job, { ...job, state: 'Succeeded', snapshot });
  return { ...done, store: [...world.store.filter((s) => s.id !== snapshot.id), snapshot] };
}

/** The Job failed and would fail again, so an undisturbed run does not retry it. */
export const failsAgain = (world: World, job: Job): boolean =>
  job.snapshot?.bad === true && (job.kind === 'restore' || world.refusing === true || !snapshotNow(world, job));

/** The snapshot that the Job would take of the leader, or of the survivor that it names. */
function snapshotNow(world: World, job: Job): { id: string; writes: number } | undefined {
  const id = job.snapshot?.id ?? job.uid;
  if (job.kind === 'recovery' || job.kind === 'salvage') {
    const { survivor = -1 } = job;
    const pod = world.pods[survivor];
    const answers = job.kind === 'salvage' ? pod?.reason === 'Salvage' : isUp(pod) && !pod.mute;
    const at = answers ? world.volumes[survivor]?.wal?.at : undefined;
    return at === undefined ? undefined : { id, writes: at - 1 };
  }
  const cluster = world.clusters.findLast((c) => c.leader !== undefined && world.pods.some(isUp));
  return cluster && { id, writes: cluster.log - 1 };
}
