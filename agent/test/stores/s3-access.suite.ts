// Access to Ceph's S3 server: URL styles, certificates, and credentials that change.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListMultipartUploadsCommand, type S3Client } from '@aws-sdk/client-s3';
import { ExitCode } from '../../src/lib/errors.ts';
import { openS3 } from '../../src/store/s3/s3-store.ts';
import type { S3Spec } from '../../src/store/spec.ts';
import type { Store } from '../../src/store/store.ts';
import { type Certificates, createCertificates } from '../harness/certificates.ts';
import { HoldProxy } from '../harness/proxies/hold-proxy.ts';
import { DNS_NAME, Radosgw } from '../harness/radosgw.ts';
import { s3Client } from '../harness/s3-server.ts';
import { type SecretDirectory, secretDirectory } from '../support/secret-directory.ts';
import { keysOf, once, read } from '../support/store-contract.ts';

const MIB = 1024 * 1024;
const BUCKET = 'access';

let root: string;
let certificates: Certificates;
let server: Radosgw;
let admin: S3Client;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 's3-access-'));
  certificates = await createCertificates(join(root, 'tls'));
  server = await Radosgw.start({ buckets: [BUCKET], tls: certificates.server });
  admin = s3Client(server);
});
afterAll(async () => {
  admin?.destroy();
  await server?.stop();
  await rm(root, { recursive: true, force: true });
});

const specOf = (change: Partial<S3Spec>): S3Spec => {
  const { endpoint, credentialsDirectory } = server;
  return { bucket: BUCKET, endpoint, credentialsDirectory, ...change };
};

async function withStore(change: Partial<S3Spec>, use: (store: Store) => Promise<unknown>): Promise<void> {
  const store = await openS3(specOf(change));
  await use(store).finally(() => store.close());
}

/** Sends every kind of request once. */
async function expectWorking(store: Store): Promise<void> {
  const bytes = randomBytes(12 * MIB);
  await store.put('a/large', once(bytes));
  await store.put('a/small', once('x'));
  expect((await read(store, 'a/large')).equals(bytes)).toBe(true);
  expect(await store.stat('a/small')).toMatchObject({ size: 1 });
  expect(await keysOf(store, '')).toEqual(['a/large', 'a/small']);
  expect(await store.sweep('', 60_000)).toBe(0);
  for (const key of ['a/large', 'a/small']) expect(await store.delete(key)).toBe('deleted');
}

describe('the bucket in the host name, or in the path', () => {
  test.each([
    ['virtual-hosted style', false, false],
    ['path style', true, true],
    ['path style by default', undefined, true],
  ])('%s', async (_, pathStyle, inPath) => {
    await using proxy = await HoldProxy.start(server.endpoint);
    // The server distinguishes the styles by the host in the request.
    const endpoint = proxy.endpoint.replace('127.0.0.1', DNS_NAME);
    await withStore({ endpoint, pathStyle }, expectWorking);
    const styles = new Set(proxy.requests.map(({ path }) => path.startsWith(`/${BUCKET}`)));
    expect([...styles]).toEqual([inPath]);
  });

  test('with an IP address the bucket is always in the path, whatever is configured', async () => {
    await withStore({ pathStyle: false }, expectWorking);
  });
});

describe('TLS with a private authority', () => {
  test('caFile makes it trusted', async () => {
    await withStore({ endpoint: server.tlsEndpoint, caFile: certificates.ca }, expectWorking);
  });

  test('without it, or with another one, the connection is refused', async () => {
    const unknown = { exitCode: ExitCode.usage, message: expect.stringContaining('set caFile') };
    for (const change of [{}, { caFile: certificates.otherCa }]) {
      const put = withStore({ endpoint: server.tlsEndpoint, ...change }, (store) => store.put('a/b', once('x')));
      await expect(put).rejects.toMatchObject(unknown);
    }
  });
});

describe('credentials that change in the middle of an upload', () => {
  const pair = (name: string) => ({ AWS_ACCESS_KEY_ID: `key-${name}`, AWS_SECRET_ACCESS_KEY: `secret-of-${name}` });
  const give = (name: string) => server.addKey(`key-${name}`, `secret-of-${name}`);
  const revoke = (name: string) => server.removeKey(`key-${name}`);
  const secret = (name: string): SecretDirectory => secretDirectory(join(root, `secret-${name}`), pair(name));
  const uploads = async () =>
    (await admin.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }))).Uploads?.map(({ Key }) => Key);

  /** Calls `change` when the first part has been uploaded. */
  async function* body(bytes: Buffer, change: () => Promise<void>): AsyncGenerator<Uint8Array> {
    yield bytes.subarray(0, 11 * MIB);
    await change();
    yield bytes.subarray(11 * MIB);
  }

  test('to new ones, while the old ones expire: the upload continues', async () => {
    await give('old');
    const { path, replace } = secret('old');
    const bytes = randomBytes(24 * MIB);
    await withStore({ credentialsDirectory: path }, async (store) => {
      const rotate = async () => {
        await give('new');
        replace(pair('new'));
        await revoke('old');
      };
      await store.put('rotated', body(bytes, rotate));
      expect((await read(store, 'rotated')).equals(bytes)).toBe(true);
      await store.delete('rotated');
    });
    expect(await uploads()).toBeUndefined();
  });

  test('to new ones that come only after the old ones have been refused', async () => {
    await give('early');
    const { path, replace } = secret('early');
    await withStore({ credentialsDirectory: path }, async (store) => {
      await store.put('before', once('x'));
      await revoke('early');
      await expect(store.put('during', once('x'))).rejects.toMatchObject({ exitCode: ExitCode.storeRefused });
      await give('late');
      replace(pair('late'));
      await store.put('after', once('x'));
      expect(await keysOf(store, '')).toEqual(['after', 'before']);
      for (const key of ['after', 'before']) await store.delete(key);
    });
  });

  test('to none: refused, and leftovers are swept when they work again', async () => {
    await give('lost');
    const { path } = secret('lost');
    await withStore({ credentialsDirectory: path }, async (store) => {
      const putting = store.put(
        'refused',
        body(randomBytes(24 * MIB), () => revoke('lost')),
      );
      const error: Error = await putting.then(
        () => new Error('it was not refused'),
        (thrown) => thrown,
      );
      expect(error).toMatchObject({ exitCode: ExitCode.storeRefused });
      expect(error.message).toContain('does not know the access key');
      expect(error.message).not.toMatch(/\n|key-lost|secret-of-lost/);
      expect(await uploads()).toEqual(['refused']);
      await give('lost');
      expect(await keysOf(store, '')).toEqual([]);
      expect(await store.sweep('', -60_000)).toBe(1);
    });
    expect(await uploads()).toBeUndefined();
  });
});
