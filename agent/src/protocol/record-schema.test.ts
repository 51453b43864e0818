import { recordOf } from './record.fixture.ts';
import type { Op, Permit, RecordDoc } from './record.ts';
import { parseRecord } from './record-schema.ts';

const read = (value: unknown) => parseRecord(JSON.stringify(value));
const at = '2026-11-21T02:38:07Z';
const permit: Permit = {
  ...{
    id: 'p',
    ordinal: 1,
    volumeId: 'n1',
    epoch: 1,
    token: 't1',
    initialCluster: 'a=b',
    memberId: 'a1',
    issuedAt: at,
  },
  mode: 'restore',
  restore: { id: 'r', source: { url: 'http://x', token: 's', sha256: 'h' }, bumpRevision: 1_000_000_000 },
  salvage: { token: 's' },
};
const base = { id: 'o', holder: 'h', startedAt: at };
const args = {
  ...{ id: 'r', uid: 'u', specHash: 's', source: { backupName: 'b' }, identitySecret: 'age', sha256: 'h' },
  ...{ expectedRevision: 1, safetyBackup: true, ignoreUnreachablePods: false, sourceToken: 's' },
  verified: { sha256: 'h', sizeBytes: 1, revision: 2 },
  lastRevision: 9,
  survivor: { ordinal: 0, memberId: 'a0', podUid: 'p', volumeId: 'n0' },
  salvageToken: 's',
  safetyBackupId: 'b',
  failed: { reason: 'r', message: 'm' },
};
const ops: Op[] = [
  { ...base, kind: 'AddLearner', ordinal: 1, volumeId: 'n' },
  { ...base, kind: 'Promote', ordinal: 1, memberId: 'a' },
  { ...base, kind: 'Remove', ordinal: 1, memberId: 'a', why: 'Dead', step: 'claim', claimUid: 'c' },
  { ...base, kind: 'DeletePod', ordinal: 1, podUid: 'p', version: '3.5.9', nextVersion: '3.6.1' },
  {
    ...base,
    kind: 'Restore',
    step: 'verify',
    args,
    suspended: { ...base, kind: 'Promote', ordinal: 1, memberId: 'a' },
  },
  { ...base, kind: 'Upgrade', to: '3.7' },
  { ...base, kind: 'ClearNoSpace', step: 'defrag', revision: 5, done: ['a'] },
  { ...base, kind: 'Delete', step: 'claims' },
];
/** A record with every field. */
const full: RecordDoc = recordOf({
  permits: { 1: permit },
  members: { 0: { memberId: 'a0', volumeId: 'n0', epoch: 1, everVoter: true, restartedOn: '3.6.16' } },
  tombstones: [{ memberId: 'b', ordinal: 2, epoch: 1, at, why: 'Dead' }],
  op: ops[0],
  versions: { current: '3.6', allowedMinors: ['3.6'], bornOn: '3.5.9', finalizedIndex: 7, withoutBackup: true },
  lastRestoreId: 'r',
  lastRecoveryId: 'q',
  restores: [{ id: 'r', uid: 'u', specHash: 's', at }],
  lastBackup: { id: 'b', revision: 3, sha256: 'h', at },
  failure: { of: 'Upgrade 3.7', reason: 'r', message: 'm' },
});

test('every field and every operation is read as it was written', () => {
  expect(read(full)).toEqual({ kind: 'record', doc: full });
  for (const op of ops) expect(read({ ...full, op })).toEqual({ kind: 'record', doc: { ...full, op } });
});

/** Every object of the document, by its path. */
function objects(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, each]) => objects(each, [...path, key]));
  return Array.isArray(value) ? inner : [path, ...inner];
}

/** Where every key is an ordinal. */
const maps = ['permits', 'members'];

test('a field of a later release is preserved at any depth', () => {
  const whole = { ...full, op: ops[4] };
  const paths = objects(whole).filter((path) => !maps.includes(path.join('.')));
  expect(paths.length).toBeGreaterThan(10);
  const changed = structuredClone(whole) as Record<string, unknown>;
  for (const path of paths) path.reduce((at, key) => at[key] as Record<string, unknown>, changed).novelty = 1;
  expect(read(changed)).toEqual({ kind: 'record', doc: changed });
});

test('a newer format is refused with a remedy', () => {
  expect(read({ ...full, v: 2 })).toEqual({
    kind: 'refused',
    reason:
      'the record is not usable: its format is version 2, and this agent supports version 1; use a newer agent image',
  });
});

test.each([
  ['no JSON', '{', /not valid JSON/],
  ['nothing', '', /not valid JSON/],
  ['null', 'null', /not usable/],
  ['a list', '[]', /not usable/],
  ['a field too few', JSON.stringify({ ...full, rev: undefined }), /rev/],
  ['a wrong type', JSON.stringify({ ...full, epoch: '1' }), /epoch/],
  ['no ordinal', JSON.stringify({ ...full, permits: { x: permit } }), /permits/],
  ['an unknown phase', JSON.stringify({ ...full, phase: 'Paused' }), /phase/],
  ['an unknown operation', JSON.stringify({ ...full, op: { ...base, kind: 'Dance' } }), /op/],
])('%s is refused', (_, json, reason) => {
  expect(parseRecord(json)).toEqual({ kind: 'refused', reason: expect.stringMatching(reason) });
});

test('a reason never quotes the record, which has tokens', () => {
  const answer = parseRecord(JSON.stringify(recordOf()).replace('"token":', '"token":secret-of-the-cluster'));
  expect(answer).toEqual({ kind: 'refused', reason: 'the record is not usable: it is not valid JSON' });
});

test('operations that suspend each other without an end are refused', () => {
  let op: object = ops[0]!;
  for (let n = 0; n < 5; n++) op = { ...base, kind: 'Delete', step: 'backup', suspended: op };
  expect(read({ ...recordOf(), op }).kind).toBe('record');
  for (let n = 0; n < 4_000; n++) op = { ...base, kind: 'Delete', step: 'backup', suspended: op };
  expect(read({ ...recordOf(), op })).toMatchObject({ reason: expect.stringMatching(/nested too deep/) });
});

describe('an operation that lacks what its step needs', () => {
  const restoring = (step: string, change: object, kind = 'Restore') => ({
    ...full,
    permits: { 0: { ...permit, ordinal: 0 } },
    op: { ...base, kind, step, args: { ...args, ...change } },
  });

  test.each([
    ['verify', { source: undefined }, 'Restore', 'source'],
    ['safety', { verified: undefined }, 'Restore', 'verified'],
    ['fence', { verified: undefined }, 'Recover', 'verified'],
    ['seed', { source: undefined }, 'Recover', 'source'],
    ['backup', { survivor: undefined }, 'Recover', 'survivor'],
    ['salvage', { survivor: undefined }, 'Recover', 'survivor'],
    ['report', { failed: undefined }, 'Restore', 'failed'],
  ])('step %s without %o is refused (%s)', (step, change, kind, field) => {
    expect(read(restoring(step, {}, kind)).kind).toBe('record');
    expect(read(restoring(step, change, kind))).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining(`op.args.${field}: step ${step} needs it`),
    });
    const suspended = { ...base, kind: 'Delete', step: 'scale', suspended: restoring(step, change, kind).op };
    expect(read({ ...full, op: suspended }).kind).toBe('refused');
  });

  test('the backup of a roll has neither source nor survivor yet', () => {
    expect(read(restoring('backup', { source: undefined, survivor: undefined, verified: undefined })).kind).toBe(
      'record',
    );
  });

  test('a seed is restored on a permit to restore only', () => {
    expect(read(restoring('restore', {})).kind).toBe('record');
    const wanted = { reason: expect.stringContaining('permits.0: step restore needs a permit to restore') };
    expect(read({ ...restoring('restore', {}), permits: {} })).toMatchObject(wanted);
    const begins = { ...permit, ordinal: 0, mode: 'new' };
    expect(read({ ...restoring('restore', {}), permits: { 0: begins } })).toMatchObject(wanted);
    const { restore: _, ...empty } = permit;
    expect(read({ ...full, permits: { 1: empty } })).toMatchObject({
      reason: expect.stringContaining('permits.1.restore'),
    });
  });
});
