import type { Identity } from '../../protocol/agent-status.ts';
import type { RecordedMember } from '../../protocol/record.ts';
import type { VolumeFacts } from '../volume.ts';
import { decide, type GateDecision, type GateFacts } from './decide.ts';
import { identity, permit, recordDoc, volumeIdOf } from './gate.fixture.ts';

const stored = (change: Partial<Identity> = {}) => ({ kind: 'identity', identity: identity(change) }) as const;
const live = (...change: Parameters<typeof recordDoc>) => ({ kind: 'record', doc: recordDoc(...change) }) as const;
const unreachable = { kind: 'unreachable', why: 'timed out' } as const;

const empty: VolumeFacts = {
  walPresent: false,
  identity: { kind: 'none' },
  foreign: [],
  orphanTmp: 0,
  quarantineCount: 0,
  freeBytes: 1,
  totalBytes: 1,
};
const named: VolumeFacts = { ...empty, volumeId: volumeIdOf('a') };
const full: VolumeFacts = {
  ...named,
  walPresent: true,
  identity: stored(),
  wal: { memberId: 'abc', clusterId: 'c1' },
};

const look = (volume: VolumeFacts, facts: Partial<GateFacts> = {}): GateDecision =>
  decide({ cluster: 'c', ordinal: 0, minEpoch: 0, etcdVersion: '3.6.16', record: live(), ...facts, volume });
const does = (decision: GateDecision): string =>
  'why' in decision && typeof decision.why === 'object' ? `${decision.do} ${decision.why.reason}` : decision.do;
const outcome = (volume: VolumeFacts, facts?: Partial<GateFacts>): string => does(look(volume, facts));

describe('a volume with data', () => {
  test('starts with the record, without it and without ever having seen one', () => {
    expect(outcome(full)).toBe('start');
    expect(outcome(full, { record: unreachable })).toBe('start');
    expect(outcome(full, { record: { kind: 'none' } })).toBe('start');
    expect(outcome(full, { record: { kind: 'refused', reason: 'x' } })).toBe('start');
    expect(outcome({ ...full, volumeId: undefined })).toBe('start');
  });

  test('is quarantined when a fence or a removal retired it, but only with a record that was just read', () => {
    expect(outcome(full, { minEpoch: 2, record: unreachable })).toBe('quarantine');
    expect(outcome(full, { record: live({ epoch: 2 }) })).toBe('quarantine');
    const tombstones = [{ memberId: 'abc', ordinal: 0, epoch: 1, at: '', why: '' }];
    expect(outcome(full, { record: live({ tombstones }) })).toBe('quarantine');
    expect(outcome(full, { record: unreachable, cache: recordDoc({ tombstones }) })).toBe('refuse Removed');
    expect(outcome(full, { record: unreachable, cache: recordDoc({ epoch: 2 }) })).toBe('refuse OldEpoch');
  });

  test('the WAL says who the member is, whatever identity.json says', () => {
    const tombstones = [{ memberId: 'other', ordinal: 0, epoch: 1, at: '', why: '' }];
    expect(outcome({ ...full, identity: stored({ memberId: 'other' }) }, { record: live({ tombstones }) })).toBe(
      'start',
    );
    expect(outcome({ ...full, wal: { memberId: 'other', clusterId: '' } }, { record: live({ tombstones }) })).toBe(
      'quarantine',
    );
  });

  test.each<[string, VolumeFacts, Partial<GateFacts>, string]>([
    ['has no identity', { ...full, identity: { kind: 'none' } }, {}, 'ForeignData'],
    ['has a damaged identity', { ...full, identity: { kind: 'unreadable', why: 'x' } }, {}, 'ForeignData'],
    ['has a damaged identity and no WAL', { ...named, identity: { kind: 'unreadable', why: 'x' } }, {}, 'ForeignData'],
    ['is of another cluster', full, { record: live({ clusterUid: 'other' }) }, 'ForeignData'],
    ['is of another ordinal', { ...full, identity: stored({ ordinal: 1 }) }, {}, 'ForeignData'],
    ['was below a cluster version', { ...full, identity: stored({ clusterVersion: '3.7' }) }, {}, 'VersionRefused'],
    ['was of a minor not next to it', { ...full, identity: stored({ lastVersion: '3.4.30' }) }, {}, 'VersionRefused'],
  ])('is refused when it %s, and nothing is done to it', (_, volume, facts, reason) => {
    expect(outcome(volume, facts)).toBe(`refuse ${reason}`);
    expect(outcome(volume, { ...facts, minEpoch: reason === 'ForeignData' ? 9 : 0 })).toBe(`refuse ${reason}`);
  });

  test('is salvaged by a permit of the record as it is now', () => {
    const record = live({ permits: { 0: permit({ mode: 'salvage', salvage: { token: 't' } }) } });
    expect(outcome(full, { record })).toBe('salvage');
    expect(outcome(full, { record: unreachable, cache: record.doc })).toBe('start');
    expect(outcome({ ...full, volumeId: volumeIdOf('b') }, { record })).toBe('start');
  });

  describe('that ends before the mark of its member', () => {
    const members = (change: Partial<RecordedMember> = {}) => ({
      0: { memberId: 'abc', volumeId: volumeIdOf('a'), epoch: 1, everVoter: true, ...change },
    });
    const reached = { index: 900, revision: 500 };
    const record = live({ members: members({ reached }) });

    test('was set back, and does not start', () => {
      const decision = look(full, { record, lastIndex: 899 });
      expect(does(decision)).toBe('refuse VolumeSetBack');
      expect(decision).toMatchObject({ why: { message: expect.stringContaining('ends at index 899') } });
      expect(outcome(full, { record, lastIndex: 900 })).toBe('start');
      expect(outcome(full, { record: unreachable, cache: record.doc, lastIndex: 899 })).toBe('refuse VolumeSetBack');
    });

    test.each<[string, Partial<GateFacts>]>([
      ['there is no mark', { record: live({ members: members() }) }],
      ['there is no record', { record: unreachable }],
      ['the log cannot be read', { record, lastIndex: undefined }],
      ['it is of another member', { record: live({ members: members({ memberId: 'other', reached }) }) }],
      ['it is of an earlier epoch', { record: live({ members: members({ epoch: 0, reached }) }) }],
      ['it is of another ordinal', { record: live({ members: { 1: members({ reached })[0] } }) }],
    ])('starts if %s', (_, facts) => {
      expect(outcome(full, { lastIndex: 1, ...facts })).toBe('start');
    });

    test('is quarantined after its removal, and salvaged when that is asked for', () => {
      const tombstones = [{ memberId: 'abc', ordinal: 0, epoch: 1, at: '', why: '' }];
      expect(outcome(full, { record: live({ ...record.doc, tombstones }), lastIndex: 1 })).toBe('quarantine');
      const permits = { 0: permit({ mode: 'salvage', salvage: { token: 't' } }) };
      expect(outcome(full, { record: live({ ...record.doc, permits }), lastIndex: 1 })).toBe('salvage');
      expect(outcome(full, { record: live({ ...record.doc, epoch: 2 }), lastIndex: 1 })).toBe('quarantine');
    });
  });

  test('a record older than the cached one is ignored', () => {
    const record = live({ rev: 4, epoch: 2 });
    expect(outcome(full, { record, cache: recordDoc({ rev: 5 }) })).toBe('start');
    expect(outcome(named, { record, cache: recordDoc({ rev: 5 }) })).toBe('wait RecordRolledBack');
  });
});

describe('restored data', () => {
  const restored = {
    ...{ v: 1 as const, restoreId: 'r1', clusterUid: 'uid', epoch: 2, token: 't2', ordinal: 0 },
    ...{ volumeId: volumeIdOf('a'), permitId: 'p', version: '3.6.16' },
  };

  test('get the identity that a crash prevented, even if an older one exists', () => {
    expect(outcome({ ...full, restored, identity: { kind: 'none' } })).toBe('completeRestore');
    expect(outcome({ ...full, restored })).toBe('completeRestore');
    const done = stored({ epoch: 2, lastRestoreId: 'r1' });
    expect(outcome({ ...full, restored, identity: done }, { record: live({ epoch: 2 }) })).toBe('start');
  });

  test('the marker counts on its own volume only', () => {
    const elsewhere = { ...restored, volumeId: volumeIdOf('b') };
    expect(outcome({ ...full, restored: elsewhere, identity: { kind: 'none' } })).toBe('refuse ForeignData');
    expect(outcome({ ...full, restored: { ...restored, ordinal: 1 }, identity: { kind: 'none' } })).toBe(
      'refuse ForeignData',
    );
  });
});

describe('a volume without data', () => {
  test('gets a volumeId once, then waits for as long as it takes', () => {
    expect(outcome(empty)).toBe('volumeId');
    expect(outcome(named)).toBe('wait');
    expect(outcome(named, { record: unreachable })).toBe('wait RecordUnreachable');
    expect(outcome(named, { record: { kind: 'none' } })).toBe('wait NoRecord');
    expect(outcome(named, { record: { kind: 'refused', reason: 'x' } })).toBe('wait RecordNotUnderstood');
  });

  test('a permit is valid for one volume, ordinal and epoch, in a record that was just read', () => {
    const given = permit();
    const fits = live({ permits: { 0: given } });
    expect(outcome(named, { record: fits })).toBe('permit');
    expect(outcome(named, { record: unreachable, cache: fits.doc })).toBe('wait RecordUnreachable');
    for (const change of [{ volumeId: volumeIdOf('b') }, { ordinal: 1 }, { epoch: 2 }, { mode: 'salvage' as const }])
      expect(outcome(named, { record: live({ permits: { 0: { ...given, ...change } } }) })).toBe('wait');
    expect(outcome(named, { record: fits, minEpoch: 2 })).toBe('wait');
  });

  test('only ordinal 0 begins a cluster', () => {
    const at1 = (mode: 'new' | 'existing') => live({ permits: { 1: permit({ ordinal: 1, mode }) } });
    expect(outcome(named, { ordinal: 1, record: at1('new') })).toBe('refuse PermitRefused');
    expect(outcome(named, { ordinal: 1, record: at1('existing') })).toBe('permit');
  });

  test('a minor that the record does not allow waits', () => {
    const record = live({ permits: { 0: permit() } });
    expect(outcome(named, { record, etcdVersion: '3.7.3' })).toBe('refuse VersionRefused');
  });

  test('that was emptied becomes a new volume', () => {
    expect(outcome({ ...named, identity: stored() })).toBe('quarantine');
    expect(outcome({ ...empty, identity: stored() }, { record: unreachable })).toBe('quarantine');
    expect(outcome({ ...named, identity: stored({ state: 'permitted' }), leftover: 'data' })).toBe('quarantine');
  });

  test('that a failed start left behind remains the same volume', () => {
    const permitted = { ...named, identity: stored({ state: 'permitted' }) };
    expect(outcome({ ...permitted, leftover: 'database' })).toBe('leftover');
    expect(outcome(permitted, { record: live({ permits: { 0: permit() } }) })).toBe('permit');
  });

  test('with unknown files is not changed', () => {
    expect(outcome({ ...empty, foreign: ['member'] })).toBe('refuse ForeignData');
    expect(outcome({ ...named, foreign: ['notes.txt'] })).toBe('wait');
    expect(outcome({ ...named, leftover: 'database' })).toBe('refuse ForeignData');
    expect(outcome({ ...named, identity: stored({ state: 'permitted', ordinal: 2 }) })).toBe('refuse ForeignData');
    expect(
      outcome({ ...named, identity: stored({ state: 'permitted' }) }, { record: live({ clusterUid: 'other' }) }),
    ).toBe('refuse ForeignData');
  });
});
