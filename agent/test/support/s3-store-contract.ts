import { spawn } from 'node:child_process';
import { once as happened } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ListMultipartUploadsCommand,
  PutObjectLegalHoldCommand,
  PutObjectRetentionCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { ExitCode } from '../../src/lib/errors.ts';
import { openStore, parseStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { makeBucket, type S3Server, s3Client } from '../harness/s3-server.ts';
import { secretDirectory } from './secret-directory.ts';
import { keysOf, once, read, storeContract, sweepUntil } from './store-contract.ts';

const DAY = 86_400_000;

/** Registers tests for the behavior of the S3 store on any server. */
export function s3StoreContract(start: () => Promise<S3Server>, refusesAtOnce?: number): void {
  let server: S3Server;
  let admin: S3Client;
  let secrets: string;
  const opened: Store[] = [];

  const urlOf = (bucket: string, parameters: Record<string, string> = {}) => {
    const { endpoint, credentialsDirectory } = server;
    return `s3://${bucket}?${new URLSearchParams({ endpoint, credentialsDirectory, ...parameters })}`;
  };
  const open = async (bucket: string, parameters?: Record<string, string>) => {
    const store = await openStore(parseStore(urlOf(bucket, parameters)));
    opened.push(store);
    return store;
  };
  const uploads = async () => {
    const { Uploads = [] } = await admin.send(new ListMultipartUploadsCommand({ Bucket: 'contract' }));
    return Uploads.map(({ Key }) => Key!);
  };

  let store: Store;
  beforeAll(async () => {
    secrets = await mkdtemp(join(tmpdir(), 's3-secrets-'));
    server = await start();
    admin = s3Client(server);
    await makeBucket(admin, 'contract');
    await makeBucket(admin, 'locked', true);
    store = await open('contract/some/prefix');
  });
  afterAll(async () => {
    for (const each of opened) each.close();
    admin?.destroy();
    await server?.stop();
    await rm(secrets, { recursive: true, force: true });
  });

  storeContract(() => ({ store, rests: uploads, ...(refusesAtOnce && { refusesAtOnce }) }), 1100);

  test('stores with different prefixes do not see each other', async () => {
    const other = await open('contract/some');
    await other.put('outside', once('x'));
    expect(await keysOf(store, '')).not.toContain('outside');
    await other.delete('outside');
  });

  test('kill -9 in the middle of a put leaves only an upload, which a sweep removes', async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'put-forever.ts'), urlOf('contract/killed')]);
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

  test('an object under legal hold is retained', async () => {
    const locked = await open('locked');
    await locked.put('held', once('x'));
    const hold = (Status: 'ON' | 'OFF') =>
      admin.send(new PutObjectLegalHoldCommand({ Bucket: 'locked', Key: 'held', LegalHold: { Status } }));
    await hold('ON');
    expect(await locked.delete('held')).toBe('retained');
    expect((await read(locked, 'held')).toString()).toBe('x');
    await hold('OFF');
    expect(await locked.delete('held')).toBe('deleted');
    expect(await keysOf(locked, 'held')).toEqual([]);
  });

  test.each(['GOVERNANCE', 'COMPLIANCE'] as const)('an object in %s retention is retained', async (Mode) => {
    const locked = await open('locked');
    await locked.put(Mode, once('x'));
    const Retention = { Mode, RetainUntilDate: new Date(Date.now() + DAY) };
    await admin.send(new PutObjectRetentionCommand({ Bucket: 'locked', Key: Mode, Retention }));
    expect(await locked.delete(Mode)).toBe('retained');
    expect((await read(locked, Mode)).toString()).toBe('x');
  });

  test('a bucket that is not there is refused, with a remedy', async () => {
    const none = await open('nobucket');
    const refused = { exitCode: ExitCode.storeRefused, message: expect.stringContaining('the bucket does not exist') };
    await expect(none.put('x', once('x'))).rejects.toMatchObject(refused);
    await expect(none.get('x')).rejects.toMatchObject(refused);
    await expect(none.stat('x')).rejects.toMatchObject(refused);
    await expect(keysOf(none, '')).rejects.toMatchObject(refused);
    await expect(none.sweep('', 0)).rejects.toMatchObject(refused);
    // A refusal has a date too.
    expect(await none.now()).toBeInstanceOf(Date);
  });

  test.each([
    ['an unknown access key', { AWS_ACCESS_KEY_ID: 'nobody-knows-me' }, 'does not know the access key'],
    ['a wrong secret key', { AWS_SECRET_ACCESS_KEY: 'a-wrong-secret' }, 'SignatureDoesNotMatch'],
  ])('%s is refused, and not shown', async (name, wrong, code) => {
    const { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY } = server;
    const files = { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, ...wrong };
    const { path } = secretDirectory(join(secrets, name.replaceAll(' ', '-')), files);
    const denied = await open('contract', { credentialsDirectory: path });
    const error: Error = await denied.put('x', once('x')).then(
      () => new Error('it was not refused'),
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ exitCode: ExitCode.storeRefused, message: expect.stringContaining(code) });
    for (const secret of Object.values(files)) expect(error.message).not.toContain(secret);
    expect(error.message).not.toContain('\n');
  });
}
