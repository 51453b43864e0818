import { spawn } from 'node:child_process';
import { once as happened } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  ListMultipartUploadsCommand,
  PutObjectLegalHoldCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { ExitCode } from '../src/errors.ts';
import { openStore, parseStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { Versitygw } from './harness/versitygw.ts';
import { keysOf, once, read, storeContract, sweepUntil } from './store-contract.ts';

let server: Versitygw;
let admin: S3Client;
const opened: Store[] = [];

const open = async (bucket: string, parameters: Record<string, string> = {}) => {
  const { endpoint, credentialsDirectory } = server;
  const store = await openStore(
    parseStore(`s3://${bucket}?${new URLSearchParams({ endpoint, credentialsDirectory, ...parameters })}`),
  );
  opened.push(store);
  return store;
};

const uploads = async () => {
  const { Uploads = [] } = await admin.send(new ListMultipartUploadsCommand({ Bucket: 'contract' }));
  return Uploads.map(({ Key }) => Key!);
};

beforeAll(async () => {
  server = await Versitygw.start({ buckets: ['contract'] });
  const { endpoint, region, accessKeyId, secretAccessKey } = server;
  admin = new S3Client({ endpoint, region, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } });
});
afterAll(async () => {
  for (const store of opened) store.close();
  admin?.destroy();
  await server?.stop();
});

describe('versitygw', () => {
  let store: Store;
  beforeAll(async () => {
    store = await open('contract/some/prefix');
  });

  storeContract(() => ({ store, rests: uploads }), 1100);

  test('stores with different prefixes do not see each other', async () => {
    const other = await open('contract/some');
    await other.put('outside', once('x'));
    expect(await keysOf(store, '')).not.toContain('outside');
    await other.delete('outside');
  });

  test('kill -9 in the middle of a put leaves only an upload, which a sweep removes', async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'put-forever.ts'), killedStore()]);
    await happened(child.stdout, 'data');
    child.kill('SIGKILL');
    await happened(child, 'exit');
    const killed = await open('contract/killed');
    expect(await keysOf(killed, '')).toEqual([]);
    expect(await uploads()).toEqual(['killed/cluster/x.db']);
    expect(await killed.sweep('cluster/', 60_000)).toBe(0);
    expect(await sweepUntil(killed, 'cluster/', 1)).toBe(1);
    expect(await uploads()).toEqual([]);
  });

  const killedStore = () => {
    const { endpoint, credentialsDirectory } = server;
    return `s3://contract/killed?${new URLSearchParams({ endpoint, credentialsDirectory })}`;
  };

  test('an object under legal hold is retained', async () => {
    await admin.send(new CreateBucketCommand({ Bucket: 'locked', ObjectLockEnabledForBucket: true }));
    const locked = await open('locked');
    await locked.put('held', once('x'));
    const hold = (Status: 'ON' | 'OFF') =>
      admin.send(new PutObjectLegalHoldCommand({ Bucket: 'locked', Key: 'held', LegalHold: { Status } }));
    await hold('ON');
    expect(await locked.delete('held')).toBe('retained');
    expect((await read(locked, 'held')).toString()).toBe('x');
    await hold('OFF');
    expect(await locked.delete('held')).toBe('deleted');
  });

  test('a bucket that is not there is refused, with a remedy', async () => {
    const none = await open('nobucket');
    const refused = { exitCode: ExitCode.storeRefused, message: expect.stringContaining('the bucket does not exist') };
    await expect(none.put('x', once('x'))).rejects.toMatchObject(refused);
    await expect(none.get('x')).rejects.toMatchObject(refused);
    await expect(none.stat('x')).rejects.toMatchObject(refused);
    await expect(keysOf(none, '')).rejects.toMatchObject(refused);
    await expect(none.sweep('', 0)).rejects.toMatchObject(refused);
    await expect(none.now()).rejects.toMatchObject(refused);
  });

  test.each([
    ['an unknown access key', { AWS_ACCESS_KEY_ID: 'nobody-knows-me' }, 'does not know the access key'],
    ['a wrong secret key', { AWS_SECRET_ACCESS_KEY: 'a-wrong-secret' }, 'SignatureDoesNotMatch'],
  ])('%s is refused, and not shown', async (name, wrong, code) => {
    const directory = join(server.directory, '..', name.replaceAll(' ', '-'));
    await mkdir(directory);
    const { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY } = server;
    const files = { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, ...wrong };
    for (const [file, value] of Object.entries(files)) await writeFile(join(directory, file), `${value}\n`);
    const denied = await open('contract', { credentialsDirectory: directory });
    const error: Error = await denied.put('x', once('x')).then(
      () => new Error('it was not refused'),
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ exitCode: ExitCode.storeRefused, message: expect.stringContaining(code) });
    for (const secret of Object.values(files)) expect(error.message).not.toContain(secret);
    expect(error.message).not.toContain('\n');
  });
});
