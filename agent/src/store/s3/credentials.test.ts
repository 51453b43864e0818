import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3Stub } from '../../../test/support/s3-stub.ts';
import { secretDirectory } from '../../../test/support/secret-directory.ts';
import { keysOf } from '../../../test/support/store-contract.ts';
import { ExitCode } from '../../lib/errors.ts';
import { readCredentials, readRegion } from './credentials.ts';
import { openS3 } from './s3-store.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'credentials-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

let directories = 0;
const secret = (files: Record<string, string>) => secretDirectory(join(root, String(directories++)), files);
const pair = { accessKeyId: 'the-key', secretAccessKey: 'the/secret+' };

test.each<Record<string, string>>([
  { AWS_ACCESS_KEY_ID: 'the-key', AWS_SECRET_ACCESS_KEY: 'the/secret+' },
  { AWS_ACCESS_KEY_ID: 'the-key\n', AWS_SECRET_ACCESS_KEY: '  the/secret+\r\n' },
  { aws_access_key_id: 'the-key', aws_secret_access_key: 'the/secret+' },
  { accessKeyID: 'the-key', accessKeySecret: 'the/secret+' },
  { accessKeyID: 'the-key', secretAccessKey: 'the/secret+' },
  { accessKeyId: 'the-key', secretAccessKey: 'the/secret+' },
  { accessKeyId: 'the-key', accessKeySecret: 'the/secret+' },
  { MINIO_ACCESS_KEY: 'the-key', MINIO_SECRET_KEY: 'the/secret+' },
  { credentials: '[default]\naws_access_key_id = the-key\naws_secret_access_key=the/secret+\n' },
  { config: '[default]\naws_access_key_id = the-key\naws_secret_access_key=the/secret+\n' },
  { AWS_ACCESS_KEY_ID: 'the-key', AWS_SECRET_ACCESS_KEY: 'the/secret+', MINIO_ACCESS_KEY: 'half', other: 'file' },
])('reads %j', async (files) => {
  expect(await readCredentials(secret(files).path)).toMatchObject(pair);
});

test.each<Record<string, string>>([
  { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_SESSION_TOKEN: 'the-token\n' },
  { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_session_token: 'the-token' },
  { credentials: '[default]\naws_access_key_id=a\naws_secret_access_key=b\naws_session_token=the-token' },
])('reads a session token: %j', async (files) => {
  expect(await readCredentials(secret(files).path)).toMatchObject({ sessionToken: 'the-token' });
});

test('uses the requested profile, and its region', async () => {
  const { path } = secret({
    credentials:
      '[default]\naws_access_key_id=a\naws_secret_access_key=b\n[backup]\naws_access_key_id=c\naws_secret_access_key=d\n',
    config: '[default]\nregion=eu-west-1\n[profile backup]\nregion=eu-central-1\n',
  });
  expect(await readCredentials(path)).toMatchObject({ accessKeyId: 'a' });
  expect(await readCredentials(path, 'backup')).toMatchObject({ accessKeyId: 'c', secretAccessKey: 'd' });
  expect(await readRegion(path)).toBe('eu-west-1');
  expect(await readRegion(path, 'backup')).toBe('eu-central-1');
});

test('reads again at every call, and makes the SDK ask before every request', async () => {
  const { path, replace } = secret({ accessKeyID: 'one', accessKeySecret: 'x' });
  const { accessKeyId, expiration } = await readCredentials(path);
  expect(accessKeyId).toBe('one');
  // The SDK asks again when less than five minutes are left.
  expect(expiration!.getTime() - Date.now()).toBeLessThan(300_000);
  expect(expiration!.getTime()).toBeGreaterThan(Date.now());
  replace({ accessKeyID: 'two', accessKeySecret: 'x' });
  expect(await readCredentials(path)).toMatchObject({ accessKeyId: 'two' });
  const shared = secret({ credentials: '[default]\naws_access_key_id=one\naws_secret_access_key=x' });
  expect(await readCredentials(shared.path)).toMatchObject({ accessKeyId: 'one' });
  shared.replace({ credentials: '[default]\naws_access_key_id=two\naws_secret_access_key=x' });
  expect(await readCredentials(shared.path)).toMatchObject({ accessKeyId: 'two' });
});

const SECRET = 'never-show-this';
test.each<[string, Record<string, string>, string | undefined, string]>([
  ['nothing', {}, undefined, 'is empty; add AWS_ACCESS_KEY_ID and'],
  ['half a pair', { AWS_SECRET_ACCESS_KEY: SECRET }, undefined, 'only AWS_SECRET_ACCESS_KEY; add'],
  [
    'halves of two',
    { accessKeyID: 'a', MINIO_SECRET_KEY: SECRET },
    undefined,
    'only MINIO_SECRET_KEY, accessKeyID; add',
  ],
  ['other names', { username: 'a', password: SECRET }, undefined, 'only password, username; add'],
  [
    'an empty file',
    { AWS_ACCESS_KEY_ID: '\n', AWS_SECRET_ACCESS_KEY: SECRET },
    undefined,
    'AWS_ACCESS_KEY_ID is empty',
  ],
  [
    'a whole file in one key',
    { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: `secret = ${SECRET}` },
    undefined,
    'AWS_SECRET_ACCESS_KEY contains more than one word',
  ],
  [
    'another profile',
    { credentials: `[a]\naws_secret_access_key=${SECRET}\n[b]\nx=y` },
    'c',
    "no profile 'c'; its shared files have: a, b",
  ],
  [
    'half a profile',
    { credentials: `[default]\naws_secret_access_key=${SECRET}` },
    undefined,
    "the profile 'default' has no credentials",
  ],
  ['no ini file', { credentials: SECRET }, undefined, 'its shared files have: none'],
])('%s is a mistake that names the directory and no value', async (_what, files, profile, why) => {
  const { path } = secret(files);
  const error: Error = await readCredentials(path, profile).then(
    () => new Error('it was taken'),
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ exitCode: ExitCode.usage });
  expect(error.message).toContain(`credentialsDirectory ${path}: `);
  expect(error.message).toContain(why);
  expect(error.message).not.toMatch(new RegExp(`${SECRET}|\n`));
});

test('a missing directory is a mistake, before anything is sent', async () => {
  const credentialsDirectory = join(root, 'none');
  await expect(openS3({ bucket: 'bucket', region: 'eu-west-1', credentialsDirectory })).rejects.toMatchObject({
    exitCode: ExitCode.usage,
    message: `credentialsDirectory ${credentialsDirectory}: cannot be read (ENOENT); mount the Secret there`,
  });
});

describe('without a directory', () => {
  const saved = { ...process.env };
  beforeEach(() => {
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
    const none = join(root, 'none');
    Object.assign(process.env, {
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: none,
      AWS_SHARED_CREDENTIALS_FILE: none,
    });
  });
  afterAll(() => {
    process.env = saved;
  });

  test("the SDK's own chain is asked", async () => {
    await using stub = await S3Stub.start();
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: 'stub-access',
      AWS_SECRET_ACCESS_KEY: 'x',
      AWS_ENDPOINT_URL: stub.endpoint,
    });
    const store = await openS3({ bucket: 'bucket' });
    expect(await keysOf(store, '')).toEqual([]);
    expect(store.url).toBe(`s3://bucket?endpoint=${stub.endpoint}`);
    store.close();
  });

  test('none at all is a mistake, with a remedy', async () => {
    const store = await openS3({ bucket: 'bucket', region: 'eu-west-1' });
    await expect(keysOf(store, '')).rejects.toMatchObject({
      exitCode: ExitCode.usage,
      message: expect.stringContaining('no credentials found; set credentialsDirectory'),
    });
    store.close();
  });
});

describe('credentials of a store', () => {
  const valid = { AWS_ACCESS_KEY_ID: 'stub-access', AWS_SECRET_ACCESS_KEY: 'stub-secret' };
  const body = async function* (size: number) {
    yield Buffer.alloc(size);
  };
  const MIB = 1024 * 1024;

  test('that are rotated during an upload are used', async () => {
    await using stub = await S3Stub.start();
    const { path, replace } = secret(valid);
    const { bucket, endpoint } = stub;
    const store = await openS3({ bucket, endpoint, credentialsDirectory: path }, { minPartSize: MIB, maxAttempts: 2 });
    const used = new Set<string>();
    stub.intercept = ({ accessKeyId, query }) => {
      used.add(accessKeyId);
      if (query.get('partNumber') === '2' && stub.accessKeyIds[0] !== 'second') {
        // From now on the server accepts only the new key, and the Secret has it.
        stub.accessKeyIds = ['second'];
        replace({ ...valid, AWS_ACCESS_KEY_ID: 'second' });
      }
      return undefined;
    };
    await store.put('x', body(4 * MIB)).finally(() => store.close());
    expect([...used]).toEqual(['stub-access', 'second']);
    expect(stub.objects.get('x')!.body).toHaveLength(4 * MIB);
  });

  test('that the server learns only after a while are used then', async () => {
    await using stub = await S3Stub.start();
    const { bucket, endpoint } = stub;
    stub.accessKeyIds = ['earlier'];
    const store = await openS3({ bucket, endpoint, credentialsDirectory: secret(valid).path }, { maxAttempts: 1 });
    let asked = 0;
    stub.intercept = () => {
      if (++asked === 3) stub.accessKeyIds = [valid.AWS_ACCESS_KEY_ID];
      return undefined;
    };
    await store.put('x', body(1)).finally(() => store.close());
    expect(stub.objects.has('x')).toBe(true);
    expect(stub.log.filter((entry) => entry.startsWith('PutObject '))).toHaveLength(3);
  });

  test('that stay wrong are tried twice, and never printed', async () => {
    const files = {
      AWS_ACCESS_KEY_ID: 'wrong-access-key',
      AWS_SECRET_ACCESS_KEY: 'wrong-secret',
      AWS_SESSION_TOKEN: 'wrong-token',
    };
    await using stub = await S3Stub.start();
    const { bucket, endpoint } = stub;
    const tuning = { maxAttempts: 2, keyGrace: 0 };
    const store = await openS3({ bucket, endpoint, credentialsDirectory: secret(files).path }, tuning);
    const error = await store.put('x', body(1)).then(
      () => Promise.reject(new Error('it did not fail')),
      (thrown: Error) => thrown,
    );
    store.close();
    expect(error).toMatchObject({ exitCode: ExitCode.storeRefused });
    expect(error.message).toContain('InvalidAccessKeyId (403): the server does not know the access key');
    expect(error.message).toContain('it says: No such key: ***');
    for (const value of Object.values(files)) expect(error.message).not.toContain(value);
    expect(stub.log.filter((entry) => entry.startsWith('PutObject '))).toHaveLength(2);
  });
});
