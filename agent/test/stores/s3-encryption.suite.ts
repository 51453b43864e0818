// Encryption by the server, with its keys and with ours, on Ceph's S3 server.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { ExitCode } from '../../src/lib/errors.ts';
import { openS3 } from '../../src/store/s3/s3-store.ts';
import type { S3Spec } from '../../src/store/spec.ts';
import type { Store } from '../../src/store/store.ts';
import { backup, command, expectFailure, run, succeed } from '../faults/commands.ts';
import { type Certificates, createCertificates } from '../harness/certificates.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { KMS_KEY_ID, Radosgw } from '../harness/radosgw.ts';
import { s3Client } from '../harness/s3-server.ts';
import { once, read } from '../support/store-contract.ts';

const MIB = 1024 * 1024;
const BUCKET = 'encrypted';
const key = randomBytes(32);
const other = randomBytes(32).toString('base64');

let root: string;
let certificates: Certificates;
let server: Radosgw;
let admin: S3Client;
const files: Record<string, string> = {};
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 's3-encryption-'));
  certificates = await createCertificates(join(root, 'tls'));
  const contents = { raw: key, base64: `${key.toString('base64')}\n`, other };
  for (const [name, content] of Object.entries(contents)) {
    files[name] = join(root, name);
    await writeFile(files[name], content);
  }
  server = await Radosgw.start({ buckets: [BUCKET], tls: certificates.server });
  admin = s3Client(server);
});
afterAll(async () => {
  admin?.destroy();
  await server?.stop();
  await rm(root, { recursive: true, force: true });
});

const specOf = (change: Partial<S3Spec>): S3Spec => {
  const { tlsEndpoint: endpoint, credentialsDirectory } = server;
  return { bucket: BUCKET, endpoint, credentialsDirectory, caFile: certificates.ca, ...change };
};

async function withStore(change: Partial<S3Spec>, use: (store: Store) => Promise<void>): Promise<void> {
  const store = await openS3(specOf(change));
  await use(store).finally(() => store.close());
}

const bodies = { small: randomBytes(100), large: randomBytes(12 * MIB) };

describe('SSE-C', () => {
  const refused = {
    exitCode: ExitCode.storeRefused,
    message: expect.stringContaining('sseCustomerKeyFile must hold the key'),
  };

  test.each(Object.entries(bodies))(
    'a %s object comes back with the same key, and only with it',
    async (name, body) => {
      await withStore({ sseCustomerKeyFile: files.raw }, (store) => store.put(name, once(body)).then(() => {}));
      await withStore({ sseCustomerKeyFile: files.base64 }, async (store) => {
        expect((await read(store, name)).equals(body)).toBe(true);
        expect(await store.stat(name)).toMatchObject({ size: body.length });
      });
      await withStore({ sseCustomerKeyFile: files.other }, (store) =>
        expect(store.get(name)).rejects.toMatchObject(refused),
      );
      await withStore({}, (store) => expect(store.get(name)).rejects.toMatchObject(refused));
      await expect(admin.send(new GetObjectCommand({ Bucket: BUCKET, Key: name }))).rejects.toThrow();
    },
  );

  test('an object is deleted also without the key', async () => {
    await withStore({ sseCustomerKeyFile: files.raw }, (store) => store.put('gone', once('x')).then(() => {}));
    await withStore({}, async (store) => expect(await store.delete('gone')).toBe('deleted'));
  });

  test('a backup is verified and restored, but not with another key', async () => {
    await using etcd = await EtcdCluster.start();
    await etcd.put(20);
    const store = (name: string) =>
      JSON.stringify({ s3: specOf({ prefix: 'agent', sseCustomerKeyFile: files[name] }) });
    const { snapshot } = await succeed(backup(etcd, store('raw')));
    const { manifest } = await succeed(['show', snapshot.id, ...command('', store('base64')).slice(1)]);
    expect(await succeed(command('verify', store('base64')))).toMatchObject({ verified: 1 });
    const to = join(root, 'snapshot.db');
    await succeed(command('restore fetch', store('raw'), '--to', to));
    expect((await readFile(to)).length).toBe(manifest.content.sizeBytes);
    // A manifest affects only its own snapshot: a command that names it is refused.
    const needed = /sseCustomerKeyFile must hold the key/;
    const denied = await run(command('verify', store('other')));
    expect(denied.code).toBe(ExitCode.inconclusive);
    expect(denied.result.snapshots).toMatchObject([{ outcome: 'inconclusive', detail: expect.stringMatching(needed) }]);
    expectFailure(
      await run(['show', snapshot.id, ...command('', store('other')).slice(1)]),
      ExitCode.storeRefused,
      needed,
    );
    for (const secret of [other, key.toString('base64')]) expect(denied.stdout + denied.stderr).not.toContain(secret);
  });
});

describe('SSE-KMS', () => {
  test.each(Object.entries(bodies))('a %s object is encrypted with the configured key', async (name, body) => {
    await withStore({ prefix: 'kms', serverSideEncryption: 'aws:kms', kmsKeyId: KMS_KEY_ID }, async (store) => {
      await store.put(name, once(body));
      expect((await read(store, name)).equals(body)).toBe(true);
    });
    const head = await admin.send(new HeadObjectCommand({ Bucket: BUCKET, Key: `kms/${name}` }));
    expect(head).toMatchObject({ ServerSideEncryption: 'aws:kms', SSEKMSKeyId: KMS_KEY_ID });
  });

  test('a key that the server does not have is refused', async () => {
    await withStore({ serverSideEncryption: 'aws:kms', kmsKeyId: 'none' }, async (store) => {
      const error = { exitCode: ExitCode.storeRefused, message: expect.stringContaining('check kmsKeyId') };
      await expect(store.put('kms/none', once('x'))).rejects.toMatchObject(error);
      expect(await store.stat('kms/none')).toBeUndefined();
    });
  });
});
