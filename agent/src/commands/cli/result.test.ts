import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resultJson, writeTerminationMessage } from './result.ts';

test('a termination message that would be too long keeps what the run stored, and the first of what it deleted', () => {
  const directory = mkdtempSync(join(tmpdir(), 'result-'));
  const file = join(directory, 'message');
  const deleted = [...Array(200).keys()].map((n) => `20261121T000000Z-${`${n}`.padStart(12, '0')}`);
  const stores = [{ store: 's3://backups', verified: 'read', deleted }];
  writeTerminationMessage(resultJson('backup', { exitCode: 0, data: { snapshot: { id: 'x' }, stores } }), file);
  const message = readFileSync(file, 'utf8');
  rmSync(directory, { recursive: true });
  expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4096);
  expect(JSON.parse(message)).toMatchObject({
    ...{ exitCode: 0, truncated: true, snapshot: { id: 'x' } },
    stores: [{ verified: 'read', deleted: deleted.slice(0, 64) }],
  });
});
