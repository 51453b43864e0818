import type { Settings } from '../cli/settings.ts';
import { beforeFlag, bumpFlag, sha256Flag } from './snapshot-flags.ts';

const settings = (value: string) => ({ text: () => value }) as unknown as Settings;

test('a wrong value is shown, with what to pass instead', () => {
  expect(() => sha256Flag(settings('abc'))).toThrow("--sha256: 'abc' is not a valid SHA-256; pass its 64 hex digits");
  expect(() => bumpFlag(settings('-1'))).toThrow(/^--bump-revision: '-1' is not .*; pass a whole number, 0 or more$/);
});

test('a time without a time zone is refused, and the error says what is missing', () => {
  for (const text of ['2026-11-20T00:00:00', '2026-11-20', '1h']) {
    expect(() => beforeFlag(settings(text))).toThrow(
      `'${text}' is not a time with a time zone; write it like 2026-11-21T`,
    );
  }
});

test('a SHA-256 in capitals is the same', () => {
  expect(sha256Flag(settings('AB'.repeat(32)))).toBe('ab'.repeat(32));
});
