import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resultJson, writeTerminationMessage } from './result.ts';

const directory = mkdtempSync(join(tmpdir(), 'result-'));
afterAll(() => rmSync(directory, { recursive: true }));

function message(data: object) {
  const file = join(directory, 'message');
  writeTerminationMessage(resultJson('backup', { exitCode: 0, data: { snapshot: { id: 'x' }, ...data } }), file);
  const text = readFileSync(file, 'utf8');
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
  return JSON.parse(text);
}

const ids = (count: number) => [...Array(count).keys()].map((n) => `20261121T000000Z-${`${n}`.padStart(12, '0')}`);

describe('a termination message that would be too long', () => {
  test.each([
    [1, 200, 64],
    [2, 200, 32],
    [3, 50, 32],
    [16, 100, 4],
  ])(
    'of %d stores with %d deleted snapshots each keeps what the run stored, and says how many went',
    (stores, deleted, kept) => {
      const store = { store: 's3://backups', key: 'orders/x.db', verified: 'read', deleted: ids(deleted) };
      expect(message({ stores: Array(stores).fill(store) })).toMatchObject({
        ...{ exitCode: 0, truncated: true, snapshot: { id: 'x' } },
        stores: Array(stores).fill({ ...store, deleted: ids(kept), deletedCount: deleted }),
      });
    },
  );

  test('loses first what nobody decides by', () => {
    const stores = [{ store: 's3://backups', verified: 'read' }];
    expect(message({ entries: Array(300).fill({ id: 'a-long-one' }), stores })).toEqual({
      ...{ schema: 'cdk8s-etcd/result/v1', command: 'backup', ok: true, exitCode: 0, truncated: true },
      ...{ snapshot: { id: 'x' }, stores },
    });
  });
});
