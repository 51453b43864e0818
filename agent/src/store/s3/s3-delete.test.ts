import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3Stub, type StubAnswer } from '../../../test/support/s3-stub.ts';
import { secretDirectory } from '../../../test/support/secret-directory.ts';
import { ExitCode } from '../../lib/errors.ts';
import type { Store } from '../store.ts';
import { openS3 } from './s3-store.ts';

let root: string;
let credentialsDirectory: string;
let stub: S3Stub;
let store: Store;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 's3-delete-'));
  const files = { AWS_ACCESS_KEY_ID: 'stub-access', AWS_SECRET_ACCESS_KEY: 'stub-secret' };
  credentialsDirectory = secretDirectory(join(root, 'secret'), files).path;
});
afterAll(() => rm(root, { recursive: true, force: true }));
beforeEach(async () => {
  stub = await S3Stub.start();
  const { bucket, endpoint } = stub;
  store = await openS3({ bucket, endpoint, credentialsDirectory }, { maxAttempts: 2 });
});
afterEach(async () => {
  store.close();
  await stub[Symbol.asyncDispose]();
});

const always = (operation: string, reply: StubAnswer) => {
  stub.intercept = (_, asked) => (asked === operation ? reply : undefined);
};
const count = (operation: string) => stub.log.filter((entry) => entry.split(' ')[0] === operation).length;

describe('deleting', () => {
  test.each([
    [403, 'AccessDenied', 'forbidden by object lock'],
    [403, 'AccessDenied', 'Access Denied because object protected by object lock.'],
    [403, 'AccessDenied', 'User: arn:aws:iam::1:user/a is not authorized to perform: s3:BypassGovernanceRetention'],
    [400, 'InvalidRequest', 'Object is WORM protected and cannot be overwritten'],
    [403, 'ObjectLockedByBucketPolicy', 'locked'],
    [409, 'FileImmutable', 'The object is immutable'],
  ])('%i %s: %s means retained', async (status, code, message) => {
    always('DeleteObject', { status, code, message });
    expect(await store.delete('x')).toBe('retained');
  });

  test.each([
    [403, 'AccessDenied', 'User: arn:aws:iam::1:user/object-lock is not authorized to perform: s3:DeleteObject'],
    [403, 'AccessDenied', 'Access Denied'],
    [400, 'InvalidRequest', 'Bad'],
  ])('%i %s: %s is an error', async (status, code, message) => {
    always('DeleteObject', { status, code, message });
    await expect(store.delete('x')).rejects.toMatchObject({ exitCode: ExitCode.storeRefused });
  });
});

describe('deleting in a bucket with object lock, where the server would only hide the object', () => {
  const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();
  const yesterday = () => new Date(Date.now() - 86_400_000).toISOString();

  test.each<[string, () => Record<string, string>]>([
    ['held', () => ({ 'x-amz-object-lock-legal-hold': 'ON' })],
    ['locked', () => ({ 'x-amz-object-lock-mode': 'COMPLIANCE', 'x-amz-object-lock-retain-until-date': tomorrow() })],
  ])('%s means retained, and nothing is deleted', async (_, headers) => {
    always('HeadObject', { status: 200, headers: headers() });
    expect(await store.delete('x')).toBe('retained');
    expect(count('DeleteObject')).toBe(0);
  });

  test.each<[string, StubAnswer]>([
    ['a lock that has ended', { status: 200, headers: { 'x-amz-object-lock-retain-until-date': yesterday() } }],
    ['a hold that was lifted', { status: 200, headers: { 'x-amz-object-lock-legal-hold': 'OFF' } }],
    ['no right to ask', { status: 403 }],
  ])('%s does not protect it', async (_, head) => {
    always('HeadObject', head);
    expect(await store.delete('x')).toBe('deleted');
    expect(count('DeleteObject')).toBe(1);
  });

  test('nothing is deleted while the server cannot answer', async () => {
    always('HeadObject', { status: 503 });
    await expect(store.delete('x')).rejects.toMatchObject({ exitCode: ExitCode.storeUnreachable });
    expect(count('DeleteObject')).toBe(0);
  });
});
