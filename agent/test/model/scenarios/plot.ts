import type { Planner } from '../explore/passes.ts';
import { nothingYet, reached, running, type Start } from '../world/begin.ts';
import { fresh as newId, withVolume } from '../world/change.ts';
import type { Cluster } from '../world/etcd.ts';
import { type Edit, type FaultKind, force, setVersion } from '../world/events.ts';
import { settled, write } from '../world/processes.ts';
import type { Budget, World } from '../world/world.ts';

/** A scenario before its world has run. */
export interface Plot {
  readonly name: string;
  readonly from: (planner: Planner) => World;
  readonly budget: Partial<Budget>;
  readonly faults?: readonly FaultKind[];
  readonly edits?: readonly Edit[];
}

export const VOLUMES: readonly FaultKind[] = ['podLost', 'volumeLost', 'oldVolume', 'emptied'];
export const NODES: readonly FaultKind[] = ['nodeOff', 'nodeLost', 'etcdCrash'];
export const JOBS: readonly FaultKind[] = ['jobFails', 'jobRefused', 'resultLost', 'podLost', 'volumeLost'];

/** Before 3.5.30. */
export const old = 'allConnected' as const;

export const fresh = (start: Start) => (): World => nothingYet(start);
export const of =
  (start: Start) =>
  (planner: Planner): World =>
    running(start, planner);

export const tight =
  (from: Plot['from']) =>
  (planner: Planner): World => ({ ...from(planner), tight: true });

/** A client has written, and the members are marked. */
export const marked =
  (from: Plot['from']) =>
  (planner: Planner): World =>
    after(
      (each) => ({ ...write(from(each))!, marks: true }),
      (world) => world,
      ({ record }) => Object.values(record!.doc.members).every(({ reached }) => reached !== undefined),
    )(planner);

export const withoutList =
  (from: Plot['from']) =>
  (planner: Planner): World => {
    const world = from(planner);
    return { ...world, record: { ...world.record!, isListOld: true } };
  };

/** A cluster on 3.6 that came from 3.5, so it is unknown which of its entries are of 3.5. */
export const unsettled =
  (size: number, spec?: Start['spec']) =>
  (planner: Planner): World => {
    const world = running({ size, version: '3.6.16', spec }, planner);
    const { doc, rv } = world.record!;
    const { current, allowedMinors } = doc.versions;
    const clusters = world.clusters.map((c) => ({ ...c, lastV2: c.index }));
    return { ...world, clusters, record: { doc: { ...doc, versions: { current, allowedMinors } }, rv } };
  };

/** Applies an event and runs on until this holds. */
export const after =
  (from: Plot['from'], happens: (world: World) => World, isThere: (world: World) => boolean = () => true) =>
  (planner: Planner): World => {
    const world = reached(happens(from(planner)), planner, isThere);
    if (!isThere(world)) throw new Error('a scenario does not come to where it is to start');
    return world;
  };

export const edited =
  (edit: Edit) =>
  (world: World): World => ({ ...world, ...edit.apply(world.spec!, world) });

/** A learner is added and not permitted yet. */
export const withLearner = (world: World, ordinal: number): World => {
  const [next, id] = newId(world, 'm');
  const { doc, rv } = next.record!;
  const volumeId = next.volumes[ordinal]!.volumeId!;
  const op = { id: 'o#900', holder: next.holder, startedAt: '', kind: 'AddLearner', ordinal, volumeId } as const;
  const added = { id, ordinal, learner: true, started: false };
  const clusters = next.clusters.map((c, n) =>
    n === next.clusters.length - 1 ? { ...c, members: [...c.members, added] } : c,
  );
  return { ...next, clusters, record: { doc: { ...doc, op }, rv } };
};

/** Its member was removed, and a late call added another. */
export const addedAgain = (world: World, ordinal: number): World => {
  const [next, id] = newId(world, 'm');
  const again = (c: Cluster): Cluster => ({
    ...c,
    members: c.members.map((m) => (m.ordinal === ordinal ? { ...m, id } : m)),
  });
  return { ...next, clusters: next.clusters.map(again) };
};

/** A reconciler has begun to remove its member. */
export const removing = (world: World, ordinal: number): World => {
  const { doc, rv } = world.record!;
  const memberId = world.clusters.at(-1)!.members.find((m) => m.ordinal === ordinal)!.id;
  const id = { id: 'o#900', holder: world.holder, startedAt: '' };
  const op = { ...id, kind: 'Remove', ordinal, memberId, why: 'Shrink', step: 'remove' } as const;
  return { ...world, record: { doc: { ...doc, op }, rv } };
};

/** Every database is full. */
export const alarmed = (world: World): World => ({
  ...world,
  clusters: world.clusters.map((c) => ({
    ...c,
    noSpace: { alarms: c.members.map((m) => m.id), compacted: false, small: [], of: 'new' },
  })),
});

/** The data of one member differ, and it is to be replaced. */
export const corruptAndForced = (world: World, ordinal: number): World => {
  const corrupt = world.record!.doc.members[ordinal]!.memberId;
  const clusters = world.clusters.map((c) => ({ ...c, corrupt }));
  return edited(force(ordinal, false))({ ...world, clusters });
};

/** An upgrade from 3.5 that is not finalized yet, though every member runs 3.6. */
export const allOn36 =
  (start: Start) =>
  (planner: Planner): World => {
    const isMixed = ({ record, clusters }: World): boolean =>
      record!.doc.versions.allowedMinors.length > 1 && clusters.at(-1)!.minor === 6;
    return after(of(start), edited(setVersion('3.6.16')), isMixed)(planner);
  };

/** The record was rebuilt while this member's agent did not answer. */
export const forgetful =
  (from: Plot['from'], ordinal: number) =>
  (planner: Planner): World => {
    const world = from(planner);
    const { doc, rv } = world.record!;
    const { [ordinal]: _, ...members } = doc.members;
    return { ...world, record: { doc: { ...doc, members }, rv } };
  };

/** A record from before this learner was added has replaced the newest, and no agent knows that. */
export const unlearned = (world: World, ordinal: number): World => {
  const { doc, rv } = world.record!;
  const { [ordinal]: _, ...members } = doc.members;
  const { [ordinal]: __, ...permits } = doc.permits;
  return { ...world, record: { doc: { ...doc, members, permits }, rv } };
};

/** A record from a time when a member was to be added where one exists now. */
export const adding = (world: World, ordinal: number): World => {
  const { doc, rv } = world.record!;
  const { [ordinal]: _, ...members } = doc.members;
  const id = { id: 'o#900', holder: world.holder, startedAt: '' };
  const op = { ...id, kind: 'AddLearner', ordinal, volumeId: world.volumes[ordinal]!.volumeId! } as const;
  return { ...world, record: { doc: { ...doc, members, op }, rv } };
};

/** A restore has begun while quorum was lost, and keeps a removal waiting. */
export const suspending = (world: World, ordinal: number): World => {
  const { doc, rv } = removing(world, ordinal).record!;
  const { name, uid, hash, snapshot } = world.restores[0]!;
  const args = {
    ...{ id: name, uid, specHash: hash, source: { snapshotId: snapshot.id } },
    ...{ safetyBackup: false, ignoreUnreachablePods: false, sourceToken: 'x#900' },
  };
  const id = { id: 'o#901', holder: world.holder, startedAt: '' };
  const op = { ...id, kind: 'Restore', step: 'verify', args, suspended: doc.op! } as const;
  return { ...world, record: { doc: { ...doc, op }, rv } };
};

/** A member that lacks the last write. */
export const behind = (world: World, ordinal: number): World => {
  const volume = world.volumes[ordinal]!;
  return withVolume(world, ordinal, { ...volume, wal: { ...volume.wal!, at: volume.wal!.at - 1 } });
};

/** A volume of another cluster has replaced the one of ordinal 0. */
export const intruded =
  (from: Plot['from']) =>
  (planner: Planner): World => {
    const world = from(planner);
    const [cluster, member] = ['c#901', 's#902'];
    const identity = { ...world.volumes[0]!.identity!, clusterUid: 'k#903', volumeId: 'n#904', memberId: member };
    const wal = { ...world.volumes[0]!.wal!, cluster, member };
    const members = [0, 1, 2].map((ordinal) => ({
      id: ordinal === 0 ? member : `m#90${4 + ordinal}`,
      ordinal,
      learner: false,
      started: true,
    }));
    const other = { ...world.clusters[0]!, id: cluster, members, leader: undefined };
    const volume = { volumeId: 'n#904', identity: { ...identity, clusterId: cluster }, wal };
    return settled(withVolume({ ...world, clusters: [other, ...world.clusters] }, 0, volume));
  };

const doneRestore = {
  ...{ name: 'r', uid: 'y#900', hash: 'r', snapshot: { id: 'snapshot-of-r', writes: 1, foreign: true as const } },
  ...{ safetyBackup: false, ignoreUnreachablePods: false, phase: 'Completed' as const },
};

/** The EtcdRestore of a former cluster of this name is still there. */
export const restoredFormerly =
  (from: Plot['from']) =>
  (planner: Planner): World => {
    const world = from(planner);
    return { ...world, restores: [doneRestore], truth: { ...world.truth, restored: ['r'] } };
  };

/** A restore was done, and the volume on which it was done has been replaced since. */
export const restoredBefore =
  (from: Plot['from']) =>
  (planner: Planner): World => {
    const world = from(planner);
    const { doc, rv } = world.record!;
    const { name, uid } = doneRestore;
    const restores = [{ id: name, uid, specHash: name, at: '' }];
    return {
      ...world,
      restores: [doneRestore],
      record: { doc: { ...doc, restores, lastRestoreId: name }, rv },
      truth: { ...world.truth, restored: [name] },
    };
  };
