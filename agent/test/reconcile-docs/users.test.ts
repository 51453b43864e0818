import { readFile } from 'node:fs/promises';
import { userReasons } from '../../src/protocol/user-reasons.ts';

const page = await readFile(new URL('../../../docs/clusters/users.md', import.meta.url), 'utf8');
const [, section = ''] = /^## Why a user is not ready\n(.*?)^## /ms.exec(page) ?? [];
const rows = [...section.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)];

/** The API server sets it until a reconciler reports. */
const notSeen = 'NotSeen';

test('docs/clusters/users.md has every reason of an EtcdUser in order, and no other', () => {
  expect(rows.map(([, reason]) => reason)).toEqual([notSeen, ...Object.keys(userReasons)]);
});

test('every reason is followed by what to do', () => {
  expect(rows.flatMap(([, reason, what]) => (what!.trim().length < 10 ? [reason] : []))).toEqual([]);
});
