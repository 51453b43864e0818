import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seal } from '../../../test/mutations/mutate.ts';
import { runHere } from '../../../test/support/in-process.ts';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { ExitCode } from '../../lib/errors.ts';

test('an error that an EtcdRestore shows names no command with files of the pod', async () => {
  const place = await mkdtemp(join(tmpdir(), 'restore-serve-'));
  const id = 'etcd-snapshot-20261120-020000-000001';
  const snapshot = seal(Buffer.from(id));
  await mkdir(join(place, 'orders'));
  await writeFile(join(place, `orders/${id}.db`), snapshot);
  await writeFile(join(place, `orders/${id}.json`), JSON.stringify(manifestOf(snapshot, snapshot, { id })));
  const flags = [
    '--cluster=orders',
    `--store=file://${place}`,
    '--listen=127.0.0.1:0',
    `--token-sha256=${'a'.repeat(64)}`,
  ];
  const missing = id.replace(/1$/, '2');
  expect(await runHere('restore', 'serve', missing, ...flags)).toMatchObject({
    exitCode: ExitCode.nothingThere,
    text: `file://${place} holds no snapshot ${missing} of orders; see \`kubectl etcd backups\``,
  });
  await rm(place, { recursive: true });
});
