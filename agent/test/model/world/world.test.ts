import { broken } from '../claims/invariants.ts';
import { apply } from './apply.ts';
import { running, settledFrom, withBudget } from './begin.ts';
import { withPod, withVolume } from './change.ts';
import { type FaultKind, faults } from './events.ts';
import { planner } from './planner.ts';
import { catchUp, startEtcd } from './processes.ts';
import { podCreated, podGone, steps } from './steps.ts';
import type { World } from './world.ts';

const of3 = (): World => withBudget(running({ size: 3 }, planner), { faults: 9 });

function struck(world: World, kind: FaultKind, text: string): World {
  const found = faults(world, [kind]).find((step) => step.text.includes(text));
  if (!found) throw new Error(`no such fault: ${text}`);
  return found.next;
}

/** The steps of the world alone, until there is none. */
function rest(world: World): World {
  let now = world;
  for (let step = steps(now)[0]; step; step = steps(now)[0]) now = step.next;
  return now;
}

const setRecord = (world: World, change: object): World => ({
  ...world,
  record: { doc: { ...world.record!.doc, ...change }, rv: 'r#999' },
});

test('a cluster of three is what its spec says', () => {
  const world = of3();
  expect(world.clusters).toHaveLength(1);
  expect(world.clusters[0]!.members.map((m) => [m.ordinal, m.learner, m.started])).toEqual([
    [0, false, true],
    [1, false, true],
    [2, false, true],
  ]);
  expect(broken(world)).toBeUndefined();
});

test('all restart at once on their WALs with the same ids, also without the record', () => {
  const before = of3();
  let world = before;
  for (const i of [0, 1, 2]) world = podGone(world, i)!;
  for (const i of [0, 1, 2]) world = podCreated(world, i, false)!;
  expect(world.pods.map((pod) => pod?.state)).toEqual(['run', 'run', 'run']);
  expect(world.clusters[0]!.members).toEqual(before.clusters[0]!.members);
});

test('a member that starts without a quorum answers nobody until there is one', () => {
  let world = of3();
  for (const i of [0, 1, 2]) world = podGone(world, i)!;
  world = podCreated(world, 2, true)!;
  expect(world.pods[2]).toMatchObject({ state: 'run', mute: true });
  world = podCreated(world, 1, true)!;
  expect(world.pods[2]!.mute).toBeUndefined();
});

test('a lost volume asks with a new volumeId and starts nothing', () => {
  const before = of3();
  const world = rest(struck(before, 'volumeLost', 'volume of 1'));
  expect(world.pods[1]).toMatchObject({ state: 'wait' });
  expect(world.volumes[1]!.wal).toBeUndefined();
  expect(world.volumes[1]!.volumeId).not.toBe(before.volumes[1]!.volumeId);
});

test('a removed member that comes back exits; with the record its data go aside', () => {
  const lost = struck(of3(), 'volumeLost', 'volume of 1');
  const replaced = settledFrom(lost, planner);
  const blind = { ...struck(replaced, 'oldVolume', 'of 1') };
  expect(podCreated(blind, 1, false)!.pods[1]).toMatchObject({ state: 'down', reason: 'removed' });
  const seeing = podCreated(blind, 1, true)!;
  expect(seeing.pods[1]!.state).toBe('wait');
  expect(seeing.volumes[1]!.wal).toBeUndefined();
});

test('a wiped member that starts under its old id breaks OneVolumePerMember', () => {
  const world = rest(struck(of3(), 'volumeLost', 'volume of 1'));
  const { volumeId } = world.volumes[1]!;
  const { members, token, epoch } = world.record!.doc;
  const list = 'c-0=http://x,c-1=http://y,c-2=http://z';
  const permit = { id: 'o#998', ordinal: 1, volumeId: volumeId!, epoch, mode: 'existing', token, initialCluster: list };
  const wrong = setRecord(world, { permits: { 1: { ...permit, memberId: members[1]!.memberId } } });
  expect(broken(rest(wrong))).toBe('OneVolumePerMember: a member id starts on a second volume');
});

test('an initial-cluster that is not the member list does not start', () => {
  const lost = struck(of3(), 'volumeLost', 'volume of 1');
  const world = rest(lost);
  const id = world.record!.doc.members[1]!.memberId;
  const removed = apply(world, { kind: 'MemberRemove', memberId: id }).world;
  const added = apply(removed, { kind: 'MemberAdd', ordinal: 1, peerUrls: [] }).world;
  const { token, epoch } = added.record!.doc;
  const stale = { id: 'o#998', ordinal: 1, volumeId: world.volumes[1]!.volumeId!, epoch, mode: 'existing', token };
  const one = setRecord(added, { permits: { 1: { ...stale, initialCluster: 'c-0=http://x,c-1=http://y' } } });
  expect(rest(one).pods[1]!.state).toBe('down');
  const all = setRecord(one, {
    permits: { 1: { ...stale, initialCluster: 'c-0=http://x,c-1=http://y,c-2=http://z' } },
  });
  expect(rest(all).pods[1]!.state).toBe('run');
});

test('the same token twice breaks FreshTokenPerEpoch', () => {
  const world = running({ size: 1 }, planner);
  const lost = rest(struck(withBudget(world, { faults: 1 }), 'volumeLost', 'volume of 0'));
  const { token, epoch, clusterUid } = lost.record!.doc;
  const permit = {
    id: 'o#998',
    ordinal: 0,
    volumeId: lost.volumes[0]!.volumeId!,
    epoch,
    mode: 'new',
    token,
    initialCluster: '',
  };
  expect(clusterUid).toBeDefined();
  expect(broken(rest(setRecord(lost, { permits: { 0: permit } })))).toMatch('FreshTokenPerEpoch');
});

test('two old volumes that start beside a restored seed are a split brain', () => {
  const world = of3();
  const [wal] = [world.volumes[0]!.wal!];
  const other = {
    ...world.clusters[0]!,
    id: 'c#997',
    epoch: 2,
    members: [{ id: 's#997', ordinal: 0, learner: false, started: true }],
  };
  const seeded = withVolume({ ...world, clusters: [...world.clusters, other] }, 0, {
    ...world.volumes[0]!,
    wal: { ...wal, cluster: 'c#997', member: 's#997' },
  });
  expect(broken(seeded)).toMatch('split brain');
});

test('a write is on a quorum; a follower that was away has it after it caught up, not before', () => {
  const away = struck(of3(), 'etcdCrash', 'etcd of 2');
  const written = { ...away, clusters: away.clusters.map((c) => ({ ...c, log: c.log + 1 })) };
  const volumes = written.volumes.map((v, i) => (i < 2 ? { ...v!, wal: { ...v!.wal!, at: v!.wal!.at + 1 } } : v));
  const back = startEtcd({ ...written, volumes }, 2);
  expect(broken(back)).toBeUndefined();
  expect(catchUp(back, 2)!.volumes[2]!.wal!.at).toBe(back.clusters[0]!.log);
  const both = [1, 2].map((i) => ({ i, wal: { ...back.volumes[i]!.wal!, at: 1 } }));
  const lost = both.reduce((w, { i, wal }) => withVolume(w, i, { ...w.volumes[i]!, wal }), back);
  expect(broken(startEtcd(withPod(lost, 2, { ...lost.pods[2]!, state: 'stopped' }), 2))).toMatch(
    'acknowledged write is lost',
  );
});

test.each([
  ['3.7.3', 'OneMinorPerStep: 3.7 met a v2 request', 6],
  ['3.7.3', 'OneMinorPerStep: a member started on a skipped minor', 5],
  ['3.4.23', 'OneMinorPerStep: a member started on an older minor', 5],
])('%s on data of 3.%i: %s', (version, what, minor) => {
  const world = of3();
  const stopped = withPod(world, 0, { ...world.pods[0]!, version, state: 'stopped' });
  const clusters = world.clusters.map((c) => ({ ...c, minor }));
  expect(broken(startEtcd({ ...stopped, clusters }, 0))).toBe(what);
});

test('an alarm is cleared by member id, and comes back while the space is not free', () => {
  const world = struck(of3(), 'noSpace', 'NOSPACE');
  const ids = world.clusters[0]!.members.map((m) => m.id);
  const early = apply(world, { kind: 'Disarm', memberId: ids[0]!, alarm: 'NoSpace' }).world;
  expect(early.clusters[0]!.noSpace!.alarms).toEqual(ids);
  let freed = apply(world, { kind: 'Compact', revision: 1, done: '' }).world;
  for (const memberId of ids) freed = apply(freed, { kind: 'Defrag', memberId, done: '' }).world;
  for (const memberId of ids) freed = apply(freed, { kind: 'Disarm', memberId, alarm: 'NoSpace' }).world;
  expect(freed.clusters[0]!.noSpace).toBeUndefined();
});

test('stale resource versions and UIDs change nothing', () => {
  const world = of3();
  const stale = [
    apply(world, { kind: 'ScaleTo', replicas: 0, basedOn: 'r#0' }),
    apply(world, { kind: 'DeletePod', ordinal: 0, uid: 'u#0' }),
    apply(world, { kind: 'DeleteClaim', ordinal: 0, uid: 'q#0' }),
    apply(world, { kind: 'WriteRecord', doc: world.record!.doc }),
  ];
  for (const { world: after, error } of stale) {
    expect(error).toBe('conflict');
    expect(after).toBe(world);
  }
});
