import type { ClusterStatus, StepKind } from '../../../protocol/cluster-status.ts';
import { known, unknown } from '../../../protocol/known.ts';
import type { DeletePodOp, Op, RestoreStep } from '../../../protocol/record.ts';
import { operationEvents } from '../../kubernetes/status-events.ts';
import { idOf, now, plaintext, pod, status, World } from '../../port/observed.fixture.ts';
import { defaultSettings } from '../../port/settings.ts';
import { clusterStatus } from './status.ts';

/** Passes over changing worlds: each begins with the status that the one before has written. */
class Story {
  status: Partial<ClusterStatus> = {};
  events: string[] = [];
  #now = now;

  see(world: World): this {
    this.#now += 10_000;
    world.resource({ status: { epoch: 1, clusterUid: 'uid-1', ...this.status } });
    const found = clusterStatus(world.o, world.plan().conditions, this.#now, defaultSettings)!;
    this.events.push(...operationEvents(this.status, found).map(({ reason, message }) => `${reason}: ${message}`));
    this.status = found;
    return this;
  }

  get steps(): string[] {
    return (this.status.operation ?? this.status.lastOperation)?.steps.map(({ name }) => name) ?? [];
  }
}

const op = { id: 'o', holder: 'h', startedAt: '2026-01-01T00:00:00Z' };
const restartOf = (ordinal: number): DeletePodOp => ({
  ...op,
  kind: 'DeletePod',
  ordinal,
  podUid: `pod-${ordinal}`,
  nextVersion: '3.6.16',
});

/** Its template is new; these pods follow it. */
const rolled = (...done: number[]): World => {
  const world = new World().sts({ updateRevision: 'r2' });
  for (const ordinal of done) world.pod(ordinal, { revision: 'r2' });
  return world;
};

test('without an operation there is none', () => {
  const { status: found, events } = new Story().see(new World()).see(new World());
  expect(found).not.toHaveProperty('operation');
  expect(found).not.toHaveProperty('lastOperation');
  expect(events).toEqual([]);
});

test('a rolling restart, from the change of the template until the cluster is ready', () => {
  const story = new Story().see(rolled()).see(rolled().op(restartOf(2)));
  expect(story.status.operation).toEqual({
    type: 'RollingRestart',
    startedAt: '2026-01-01T00:00:10Z',
    steps: [{ kind: 'Restart', name: 'restart c-2', startedAt: '2026-01-01T00:00:20Z' }],
    next: ['wait until c-2 is healthy', 'restart c-1', 'restart c-0'],
  });
  story
    .see(rolled(2).down(2))
    .see(rolled(2).op(restartOf(1)))
    .see(rolled(1, 2).down(1));
  expect(story.status.operation?.steps.slice(0, 2)).toEqual([
    { kind: 'Restart', name: 'restart c-2', startedAt: '2026-01-01T00:00:20Z', endedAt: '2026-01-01T00:00:30Z' },
    {
      ...{ kind: 'BecomeHealthy', name: 'wait until c-2 is healthy' },
      ...{ startedAt: '2026-01-01T00:00:30Z', endedAt: '2026-01-01T00:00:40Z' },
    },
  ]);
  expect(story.status.operation?.next).toEqual(['restart c-0']);
  // The last pod has the new template, so Progressing is False; its member is not healthy yet.
  story.see(rolled(1, 2).op(restartOf(0))).see(rolled(0, 1, 2).down(0));
  expect(story.status.operation?.steps.at(-1)).toMatchObject({ name: 'wait until c-0 is healthy' });
  story.see(rolled(0, 1, 2));
  expect(story.status).not.toHaveProperty('operation');
  expect(story.status.lastOperation).toMatchObject({ type: 'RollingRestart', outcome: 'Completed' });
  expect(story.status.lastOperation?.steps).toHaveLength(6);
  expect(story.status.lastOperation?.steps.every(({ endedAt }) => endedAt !== undefined)).toBe(true);
  expect(story.events).toEqual(['OperationCompleted: RollingRestart is completed; it took 1m 10s']);
  const before = story.events.length;
  story.see(rolled(0, 1, 2)).see(rolled(0, 1, 2));
  expect(story.events).toHaveLength(before);
});

const upgradeOp: Op = { ...op, kind: 'Upgrade', to: '3.7' };
const mixed = (...done: number[]): World => {
  const world = rolled(...done)
    .spec({ version: '3.7.3' })
    .sts({ version: '3.7.3' })
    .doc({ versions: { current: '3.6', allowedMinors: ['3.6', '3.7'], bornOn: '3.6.16', finalizedIndex: 0 } });
  for (const ordinal of done) world.o.status[idOf(ordinal)] = known(status({ version: '3.7.3' }));
  return world;
};

test('an upgrade is one operation: backup, restarts, cluster version; a lost volume in its middle belongs to it', () => {
  const before = rolled().spec({ version: '3.7.3' }).sts({ version: '3.7.3' }).op(upgradeOp);
  const story = new Story().see(before);
  expect(story.status.operation).toMatchObject({ type: 'Upgrading', target: '3.7.3' });
  expect(story.status.operation?.next).toEqual([
    'restart c-2',
    'restart c-1',
    'restart c-0',
    'raise the cluster version',
  ]);
  story.see(mixed().op(restartOf(2))).see(mixed(2).down(2));
  const removeOp: Op = {
    ...op,
    kind: 'Remove',
    ordinal: 1,
    memberId: 'id-1',
    why: 'Dead',
    step: 'remove',
    claimUid: 'u',
  };
  story.see(mixed(2).volumeLost(1).op(removeOp));
  expect(story.status.conditions?.find(({ type }) => type === 'Progressing')?.reason).toBe('Replacing');
  story.see(
    mixed(2)
      .volumeLost(1)
      .removed(1)
      .op({ ...removeOp, step: 'claim' }),
  );
  story.see(mixed(0, 1, 2));
  expect(story.status.operation?.type).toBe('Upgrading');
  expect(story.steps).toEqual([
    'back up before the upgrade',
    'restart c-2',
    'wait until c-2 is healthy',
    'remove c-1 from the member list',
    'delete the volume claim of c-1',
    'raise the cluster version',
  ]);
  const done = mixed(0, 1, 2).doc({
    versions: { current: '3.7', allowedMinors: ['3.7'], bornOn: '3.6.16', finalizedIndex: 0 },
  });
  expect(story.see(done).status.lastOperation).toMatchObject({ type: 'Upgrading', outcome: 'Completed' });
});

test('an upgrade that is taken back is not called completed', () => {
  const story = new Story().see(mixed().op(restartOf(2))).see(mixed(2));
  const back = mixed(2).spec({ version: '3.6.16' }).sts({ version: '3.6.16', updateRevision: 'r1' });
  story.see(back);
  expect(story.status.lastOperation).toMatchObject({ type: 'Upgrading', target: '3.7.3', outcome: 'Superseded' });
  expect(story.status.operation).toMatchObject({ type: 'Upgrading', target: '3.6.16' });
  expect(story.events.at(-1)).toMatch(/^OperationSuperseded|^Upgrading: now/);
});

test('growing', () => {
  const grown = (): World => new World().spec({ size: 5 }).sts({ replicas: 4 });
  const story = new Story().see(grown().pods((pods) => [...pods, pod(3, { ready: false, began: false })]));
  expect(story.status.operation).toMatchObject({ type: 'Growing', target: '5' });
  expect(story.status.operation?.steps[0]?.name).toBe('start c-3');
  expect(story.status.operation?.next).toEqual(['add c-3', 'wait until c-3 has caught up', 'promote c-3', 'add c-4']);
  story.see(
    grown()
      .joiner(3)
      .op({ ...op, kind: 'AddLearner', ordinal: 3, volumeId: 'new-3' }),
  );
  story.see(grown().joiner(3).learner(3));
  story.see(
    grown()
      .joiner(3)
      .learner(3)
      .op({ ...op, kind: 'Promote', ordinal: 3, memberId: 'id-3' }),
  );
  expect(story.steps).toEqual(['start c-3', 'add c-3', 'wait until c-3 has caught up', 'promote c-3']);
  // The size goes back to what there is.
  story.see(new World());
  expect(story.status.lastOperation).toMatchObject({ type: 'Growing', target: '5', outcome: 'Superseded' });
});

test('a replaced member is one operation until it has joined again', () => {
  const removeOp: Op = { ...op, kind: 'Remove', ordinal: 1, memberId: 'id-1', why: 'Dead', step: 'remove' };
  const story = new Story().see(new World().volumeLost(1).op(removeOp)).see(new World().removed(1).joiner(1));
  expect(story.status.conditions?.find(({ type }) => type === 'Progressing')?.reason).toBe('Growing');
  expect(story.status.operation).toMatchObject({ type: 'Replacing' });
  story.see(new World());
  expect(story.status.lastOperation).toMatchObject({ type: 'Replacing', outcome: 'Completed' });
});

test('a pause, and a status without knowledge, keep the operation as it was', () => {
  const story = new Story().see(rolled().op(restartOf(2)));
  const { operation } = story.status;
  story.see(rolled().spec({ paused: true }).op(restartOf(2)));
  expect(story.status.operation).toEqual(operation);
  expect(story.see(rolled(2).op(restartOf(1))).steps).toEqual(['restart c-2', 'restart c-1']);
});

test('a step that is repeated is reported once', () => {
  const backUp = (): World => rolled().spec({ version: '3.7.3' }).sts({ version: '3.7.3' });
  const failure = { of: 'Upgrade 3.7', reason: 'BackupFailed', message: 'no store' };
  const story = new Story().see(backUp().op(upgradeOp));
  const failed = backUp().doc({ failure });
  failed.o.since.failure = now + 20_000;
  story.see(failed);
  expect(story.status.operation).toMatchObject({ type: 'Upgrading' });
  story.see(backUp().op(upgradeOp));
  expect(story.steps).toEqual(['back up before the upgrade']);
  expect(story.events.filter((line) => line.includes('back up'))).toHaveLength(1);
});

const restoreArgs = { specHash: '', ignoreUnreachablePods: false, sourceToken: 't', uid: 'u', id: 'nightly' };
const restoreOf = (step: RestoreStep, safetyBackup = false): Op => ({
  ...op,
  kind: 'Restore',
  step,
  args: { ...restoreArgs, safetyBackup },
});

test('a restore that fails before it touches the cluster is not called completed', () => {
  const story = new Story().see(new World().op(restoreOf('verify')));
  expect(story.status.operation?.type).toBe('Restoring');
  const failure = { of: 'Restore nightly', reason: 'SnapshotRefused', message: 'the snapshot is damaged' };
  story.see(new World().op(restoreOf('report')).doc({ failure })).see(new World().doc({ failure }));
  expect(story.status.lastOperation).toMatchObject({ type: 'Restoring', outcome: 'Failed' });
  expect(story.events.at(-1)).toBe('OperationFailed: Restoring failed after 20s');
});

test('a restore that fails before it touches a cluster without a quorum has failed, and the next one begins anew', () => {
  const without = () => new World().down(1).down(2);
  const story = new Story().see(without().op(restoreOf('verify'))).see(without().op(restoreOf('report')));
  expect(story.status.operation?.type).toBe('Restoring');
  story.see(without());
  expect(story.status.operation).toBeUndefined();
  expect(story.status.lastOperation).toMatchObject({ type: 'Restoring', outcome: 'Failed' });
  expect(story.events.at(-1)).toMatch(/^OperationFailed: /);
  story.see(without().op(restoreOf('verify')));
  expect(story.status.operation?.startedAt).toBe('2026-01-01T00:00:40Z');
});

test('a restore of which an older release does not say what its steps are is completed once the cluster is ready', () => {
  const story = new Story().see(new World().op(restoreOf('restore')));
  const steps = story.status.operation!.steps.map(({ kind: _, ...step }) => step);
  story.status.operation = { ...story.status.operation!, steps };
  story.see(new World());
  expect(story.status.lastOperation).toMatchObject({ type: 'Restoring', outcome: 'Completed' });
});

test('a failure of long ago, or of another operation, is not that of the operation that ends', () => {
  const failure = { of: 'Restore other', reason: 'SnapshotRefused', message: 'the snapshot is damaged' };
  const story = new Story().see(rolled().doc({ failure }).op(restartOf(2))).see(new World().doc({ failure }));
  expect(story.status.lastOperation).toMatchObject({ type: 'RollingRestart', outcome: 'Completed' });
});

test('an alarm that could not be cleared is not called completed', () => {
  const clear: Op = { ...op, kind: 'ClearNoSpace', step: 'defrag', revision: 1, done: [] };
  const full = (): World => new World().set({ alarms: known([{ memberId: 'id-0', type: 'NoSpace' }]) });
  const failure = { of: 'ClearNoSpace', reason: 'NoSpace', message: 'no room to defragment' };
  const failed = full().doc({ failure });
  failed.o.since.failure = now;
  const story = new Story().see(full().op(clear)).see(failed);
  expect(story.status.lastOperation).toMatchObject({ type: 'ClearingNoSpace', outcome: 'Failed' });
});

test('a restore without a safety backup does not announce one', () => {
  const next = (safety: boolean) => new Story().see(new World().op(restoreOf('verify', safety))).status.operation?.next;
  expect(next(true)).toContain('back up the present data');
  expect(next(false)).not.toContain('back up the present data');
  expect(next(false)).not.toContain('report why it failed');
});

test('a volume that is lost during a restart belongs to the restart: nobody asked for something else', () => {
  const removeOp: Op = { ...op, kind: 'Remove', ordinal: 1, memberId: 'id-1', why: 'Dead', step: 'remove' };
  const story = new Story()
    .see(rolled().op(restartOf(2)))
    .see(rolled(2).volumeLost(1).op(removeOp))
    .see(rolled(2).removed(1).joiner(1))
    .see(rolled(1, 2).op(restartOf(0)))
    .see(rolled(0, 1, 2));
  expect(story.status.lastOperation).toMatchObject({ type: 'RollingRestart', outcome: 'Completed' });
  expect(story.events.filter((line) => line.startsWith('Operation'))).toHaveLength(1);
});

test('what has reached its goal is completed, also if something else follows at once', () => {
  const removeOp: Op = { ...op, kind: 'Remove', ordinal: 1, memberId: 'id-1', why: 'Dead', step: 'remove' };
  const story = new Story().see(new World().volumeLost(1).op(removeOp)).see(rolled().op(restartOf(2)));
  expect(story.status.lastOperation).toMatchObject({ type: 'Replacing', outcome: 'Completed' });
  expect(story.status.operation).toMatchObject({ type: 'RollingRestart' });
});

test('a restore takes the place of an upgrade that is half done', () => {
  const story = new Story().see(mixed().op(restartOf(2))).see(mixed(2).op(restoreOf('verify')));
  expect(story.status.lastOperation).toMatchObject({ type: 'Upgrading', outcome: 'Superseded' });
  expect(story.events).toContain('OperationSuperseded: Upgrading to 3.7.3 gave way to Restoring after 10s');
});

test('while the members or the pods are not known, no step is made up', () => {
  const story = new Story().see(mixed(0, 1, 2).down(0));
  expect(story.steps).toEqual(['wait until c-0 is healthy']);
  const { operation } = story.status;
  expect(story.see(mixed(0, 1, 2).noQuorum()).status.operation).toEqual(operation);
  expect(story.see(mixed(2).set({ pods: unknown('no API') })).status.operation).toEqual(operation);
});

test('a cluster that is ready although it is paused has nothing in progress', () => {
  const story = new Story().see(rolled().op(restartOf(2))).see(new World().spec({ paused: true }));
  expect(story.status).not.toHaveProperty('operation');
});

test.each<[string, object]>([
  ['without its steps', { type: 'Upgrading', startedAt: '2025-01-01T00:00:00Z' }],
  ['without anything', {}],
  ['of a later release', { type: 'Migrating', startedAt: '2025-01-01T00:00:00Z', steps: [], next: ['x'] }],
])('an operation %s, in a status that somebody else wrote, does not stop the reconciler', (_, operation) => {
  const story = new Story();
  story.status = { operation: operation as never, lastOperation: operation as never };
  story.see(rolled().op(restartOf(2)));
  expect(story.steps).toEqual(['restart c-2']);
  story.see(new World());
  expect(story.status.lastOperation).toMatchObject({ type: 'RollingRestart', outcome: 'Completed' });
});

test('the clock of the next reconciler may be behind: nothing ends before it began', () => {
  const story = new Story().see(rolled().op(restartOf(2)));
  const { operation } = story.status;
  const later = '2026-02-01T00:00:00Z';
  story.status = {
    ...story.status,
    operation: { ...operation!, startedAt: later, steps: [{ name: 'restart c-2', startedAt: later }] },
  };
  story.see(rolled(0, 1, 2));
  expect(story.status.lastOperation).toMatchObject({ endedAt: later, steps: [{ startedAt: later, endedAt: later }] });
});

test('no step is longer than the API server accepts', () => {
  const message = 'the certificate is not usable '.repeat(40);
  const world = new World(3, { tls: true }).doc({ transport: plaintext }).down(1);
  world.resource({ certificates: { certificates: [], problems: [{ reason: 'Expired', message }] } as never });
  const story = new Story();
  story.status = { operation: { type: 'RollingRestart', startedAt: '2025-01-01T00:00:00Z', steps: [] } };
  story.see(world);
  const { steps = [], next = [] } = story.status.operation ?? {};
  for (const name of [...steps.map((step) => step.name), ...next]) expect(name.length).toBeLessThanOrEqual(256);
});

test('a switch of TLS that has not begun is not a step', () => {
  const world = new World(3, { tls: true }).doc({ transport: plaintext });
  world.o.members = new World().o.members;
  const story = new Story();
  story.status = { operation: { type: 'RollingRestart', startedAt: '2025-01-01T00:00:00Z', steps: [] } };
  story.see(world.sts({ tlsSecrets: {} }));
  expect(story.steps.join()).not.toContain('has not begun');
});

test('whether a step has an Event of its own is known by its kind, not by its name', () => {
  const startedAt = '2026-01-01T00:00:10Z';
  const eventsOf = (kind: StepKind | undefined, name: string) =>
    operationEvents(
      {},
      { operation: { type: 'Growing', startedAt, steps: [{ name, ...(kind && { kind }), startedAt }] } },
    );
  expect(eventsOf('Restart', 'let c-2 begin anew')).toEqual([]);
  expect(eventsOf('Compact', 'remove old revisions')).toHaveLength(1);
  // An older release does not say.
  expect(eventsOf(undefined, 'restart c-2')).toHaveLength(1);
});

test('the Events of an operation that the API server did not keep are not written in each pass', () => {
  const { operation } = new Story().see(mixed().spec({ version: '3.7.3' }).op(upgradeOp)).status;
  expect(operationEvents({}, { operation } as ClusterStatus)).toHaveLength(1);
  const again = { operation: { ...operation, type: 'RollingRestart' } } as ClusterStatus;
  expect(operationEvents({ operation } as ClusterStatus, again)).toHaveLength(1);
});

test('the cluster version is raised only after the restarts, also if the StatefulSet has no new template yet', () => {
  const story = new Story().see(mixed().sts({ updateRevision: 'r1' }));
  expect(story.steps).not.toContain('raise the cluster version');
  expect(story.see(mixed(0, 1, 2)).steps).toContain('raise the cluster version');
});

test('an upgrade is completed when the cluster is ready, although the raft log is still flushed', () => {
  const story = new Story().see(mixed().op(restartOf(2)));
  const flushing = new World().doc({ versions: { current: '3.6', allowedMinors: ['3.6'], bornOn: '3.5.35' } });
  story.status.operation = { ...story.status.operation!, target: '3.6.16' };
  flushing.spec({ version: '3.6.16' });
  story.see(flushing);
  expect(flushing.reason('Progressing')).toBe('FlushingRaftLog');
  expect(story.status.lastOperation).toMatchObject({ type: 'Upgrading', outcome: 'Completed' });
  expect(story.see(flushing).status).not.toHaveProperty('operation');
  // A member is lost while the log is flushed: nothing is upgraded.
  expect(story.see(flushing.down(1)).status).not.toHaveProperty('operation');
  expect(flushing.reason('Progressing')).toBe('FlushingRaftLog');
});

test('an upgrade that waits for the raft log is one from then on', () => {
  const flushing = new World().doc({ versions: { current: '3.6', allowedMinors: ['3.6'], bornOn: '3.5.35' } });
  flushing.spec({ version: '3.7.3' }).sts({ version: '3.7.3' });
  expect(new Story().see(flushing).status.operation).toMatchObject({ type: 'Upgrading', target: '3.7.3' });
});

test('an operation that has done nothing is not remembered: the template was applied a moment before the version', () => {
  const story = new Story()
    .see(rolled())
    .see(rolled().spec({ version: '3.7.3' }).sts({ version: '3.7.3' }).op(upgradeOp));
  expect(story.status.operation).toMatchObject({ type: 'Upgrading' });
  expect(story.status).not.toHaveProperty('lastOperation');
});

test('a step that comes again after others begins anew, at the end', () => {
  const story = new Story()
    .see(rolled().op(restartOf(2)))
    .see(rolled(2).down(2))
    .see(rolled(2).op(restartOf(1)));
  story.see(rolled(2).down(2));
  expect(story.steps).toEqual(['restart c-2', 'restart c-1', 'wait until c-2 is healthy']);
  expect(story.status.operation?.steps.at(-1)?.startedAt).toBe('2026-01-01T00:00:40Z');
});
