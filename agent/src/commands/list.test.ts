import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seal } from '../../test/mutations/mutate.ts';
import { runHere } from '../../test/support/in-process.ts';
import { manifestOf } from '../../test/support/manifest-of.ts';

let place: string;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'list-'));
  await mkdir(join(place, 'orders'));
});
afterEach(() => rm(place, { recursive: true }));

const put = async (day: number, clusterId: string, lineage?: string[]) => {
  const id = `etcd-snapshot-202611${day}-020000-00000a`;
  const snapshot = seal(Buffer.from(id));
  const createdAt = `2026-11-${day}T02:00:00.000Z`;
  const cluster = { ...(lineage && { lineage }) };
  const manifest = manifestOf(snapshot, snapshot, { id, createdAt, source: { clusterId }, cluster });
  await writeFile(join(place, `orders/${id}.db`), snapshot);
  await writeFile(join(place, `orders/${id}.json`), JSON.stringify(manifest));
};
const run = (command: string, ...more: string[]) =>
  runHere(command, '--cluster=orders', `--store=file://${place}`, ...more);

test('two etcds that no restore connects are named below the table, in the words of those that refuse to choose', async () => {
  await put(18, 'a1');
  await put(19, 'b2');
  const { text, exitCode } = await run('list');
  expect(exitCode).toBe(0);
  const line = text.split('\n').at(-1);
  expect(line).toContain(
    'holds snapshots of 2 etcd clusters named orders, and no restore connects them: b2 (1, newest etcd-snapshot-20261119-020000-00000a), a1 (',
  );
  expect(line).toContain(
    'pass --restored-from to its next backup; of a snapshot that was taken by mistake, delete the manifest',
  );
  const refused = await run('show');
  expect(refused.exitCode).toBe(40);
  expect(line).toContain(refused.text);
  expect((await run('list', '--cluster-id=a1')).text).not.toContain('no restore connects');
});

test('KEPT BY has the snapshots of --keep-file', async () => {
  await put(18, 'a1');
  await put(19, 'a1');
  const file = join(place, 'kept');
  await writeFile(file, 'etcd-snapshot-20261118-020000-00000a\n');
  const { text } = await run('list', '--retention=last=1', `--keep-file=${file}`);
  expect(text).toMatch(/^etcd-snapshot-20261118-020000-00000a .* in the list of --keep-file$/m);
});

test('one etcd, or one that was restored from the other, has no such line', async () => {
  await put(18, 'a1');
  await put(19, 'b2', ['a1']);
  expect((await run('list')).text.split('\n')).toHaveLength(3);
});
