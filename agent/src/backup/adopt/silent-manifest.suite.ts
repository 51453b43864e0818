import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { etcdutl } from '../../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { runHere } from '../../../test/support/in-process.ts';
import { S3Stub } from '../../../test/support/s3-stub.ts';
import { saveSnapshot } from '../../../test/support/save-snapshot.ts';
import { secretDirectory } from '../../../test/support/secret-directory.ts';
import { ExitCode } from '../../lib/errors.ts';

let saved: Buffer;
let root: string;
let stub: S3Stub;
let silent: string;
beforeAll(async () => {
  await using etcd = await EtcdCluster.start();
  await etcd.put(20);
  saved = (await saveSnapshot(etcd)).snapshot;
});
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'silent-manifest-'));
  stub = await S3Stub.start();
});
afterEach(async () => {
  await stub[Symbol.asyncDispose]();
  await rm(root, { recursive: true });
});

const put = (key: string, body: Buffer) =>
  stub.objects.set(key, { body, modified: new Date('2026-11-20T02:38:30Z'), etag: 'e' });
const run = (...args: string[]) => {
  const keys = { AWS_ACCESS_KEY_ID: 'stub-access', AWS_SECRET_ACCESS_KEY: 'stub-secret' };
  const credentialsDirectory = secretDirectory(join(root, `secret-${Math.random()}`), keys).path;
  const url = `s3://${stub.bucket}?${new URLSearchParams({ endpoint: stub.endpoint, credentialsDirectory })}`;
  return runHere(...args, '--cluster=orders', `--store=${url}`, `--etcdutl=${etcdutl()}`, `--scratch=${root}`);
};
/** Adopts a file, and lets its manifest answer no more. */
async function silence(file: string, answer: 'hang' | 'error' | 'refuse'): Promise<void> {
  put(`orders/${file}.db`, saved);
  expect(await run('adopt')).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
  silent = [...stub.objects.keys()].find((key) => key.endsWith('.json'))!;
  stub.intercept = ({ key }, operation) => {
    if (key !== silent || operation !== 'GetObject') return undefined;
    if (answer === 'refuse') return { status: 403, code: 'AccessDenied' };
    return answer === 'hang' ? 'hang' : { status: 503, code: 'SlowDown' };
  };
}

test.each(['hang', 'error'] as const)(
  'a named file is adopted, with a warning, although another manifest does not answer: %s',
  async (answer) => {
    await silence('other', answer);
    put('orders/a.db', saved);
    const { exitCode, data, log } = await run('adopt', 'orders/a.db');
    expect({ exitCode, data }).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
    expect(log).toContainEqual(
      expect.stringMatching(/^orders\/a\.db: 1 manifest of the folder cannot be read, such as that of other: /),
    );
  },
);

test('a named file is restored with --adopt although another manifest does not answer', async () => {
  await silence('other', 'error');
  put('orders/a.db', saved);
  const fetch = ['restore', 'fetch', '--object-key=orders/a.db', '--adopt', `--to=${join(root, 'out.db')}`];
  expect(await run(...fetch)).toMatchObject({ exitCode: 0 });
});

test.each(['b', 'with.a.dot'])(
  'a named file is refused if its own manifest does not answer, and nothing is written: %s',
  async (file) => {
    await silence(file, 'error');
    const before = [...stub.objects.keys()];
    expect(await run('adopt', `orders/${file}.db`)).toMatchObject({
      exitCode: ExitCode.storeUnreachable,
      text: expect.stringContaining(`${silent} may be the manifest of orders/${file}.db, but`),
    });
    expect([...stub.objects.keys()]).toEqual(before);
  },
);

test('without names, all manifests must answer', async () => {
  await silence('other', 'error');
  put('orders/a.db', saved);
  expect(await run('adopt')).toMatchObject({ exitCode: ExitCode.storeUnreachable });
});

test('without names, a manifest that the store refuses is named', async () => {
  await silence('other', 'refuse');
  put('orders/a.db', saved);
  const { exitCode, data, log } = await run('adopt');
  expect({ exitCode, data }).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
  expect(log).toContainEqual(
    expect.stringMatching(/^other: its manifest cannot be read: .*; if it names one of these/),
  );
});

test('payloads that hang do not keep the others from being adopted, nor does the command wait for all of them', async () => {
  for (const file of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) put(`orders/${file}.db`, saved);
  stub.intercept = ({ key }, operation) => (operation === 'GetObject' && /[^bg]\.db$/.test(key) ? 'hang' : undefined);
  const { exitCode, data } = await run('adopt', '--timeout=12s');
  expect({ exitCode, adopted: data.adopted }).toEqual({ exitCode: ExitCode.storeUnreachable, adopted: 1 });
  const detail = expect.stringMatching(/: get orders\/[^bg]\.db: no sign of life for \d s; check/);
  const failed = ['a', 'c', 'd', 'e', 'f'].map((file) => ({ key: `orders/${file}.db`, outcome: 'failed', detail }));
  expect(data.snapshots).toMatchObject([
    failed[0],
    { id: 'b', outcome: 'adopted' },
    ...failed.slice(1),
    { key: 'orders/g.db', outcome: 'failed', detail: expect.stringMatching(/^not read, because the 4 before it/) },
  ]);
});
