import { newMemberRefusal, versionRefusal } from './version-rule.ts';

const rule = (facts: Partial<Parameters<typeof versionRefusal>[0]>): string =>
  versionRefusal({ binary: '3.6.16', last: '3.6.16', ...facts })?.reason ?? 'free';
const allow = (...allowedMinors: string[]) => ({ current: '3.6', allowedMinors });

test('within a minor nothing has to be allowed', () => {
  expect(rule({ last: '3.6.0' })).toBe('free');
  expect(rule({ binary: '3.6.0' })).toBe('free');
});

test('the next minor, and the one before while an upgrade is half done, must be in the record', () => {
  expect(rule({ last: '3.5.30' })).toBe('VersionRefused');
  expect(rule({ last: '3.5.30', allowed: allow('3.5') })).toBe('VersionRefused');
  expect(rule({ last: '3.5.30', allowed: allow('3.5', '3.6') })).toBe('free');
  expect(rule({ binary: '3.5.30', allowed: allow('3.5', '3.6') })).toBe('free');
});

test('a minor is not skipped, whatever the record says', () => {
  expect(rule({ last: '3.4.30', allowed: allow('3.4', '3.6') })).toBe('VersionRefused');
  expect(rule({ binary: '3.4.30', allowed: allow('3.4', '3.6') })).toBe('VersionRefused');
});

test('nothing starts below the cluster version', () => {
  expect(rule({ cluster: '3.7.0' })).toBe('VersionRefused');
  expect(rule({ cluster: '3.6.0' })).toBe('free');
  expect(rule({ binary: '3.5.30', cluster: '3.6.0', allowed: allow('3.5', '3.6') })).toBe('VersionRefused');
});

test('3.7 starts only after a raft snapshot of 3.6 has flushed the log', () => {
  const up = (finalizedIndex: number | undefined, snapIndex?: number) =>
    rule({ binary: '3.7.3', snapIndex, allowed: { ...allow('3.6', '3.7'), finalizedIndex } });
  expect(up(undefined, 1_000_000)).toBe('NeedsSnapshot');
  expect(up(100)).toBe('NeedsSnapshot');
  expect(up(100, 100)).toBe('NeedsSnapshot');
  expect(up(100, 101)).toBe('free');
  expect(up(0)).toBe('free');
  expect(rule({ binary: '3.6.16', last: '3.7.3', allowed: allow('3.6', '3.7') })).toBe('free');
});

test('a new member only needs an allowed minor version', () => {
  expect(newMemberRefusal('3.7.3', allow('3.7'))).toBeUndefined();
  expect(newMemberRefusal('3.7.3', allow('3.6'))?.reason).toBe('VersionRefused');
});
