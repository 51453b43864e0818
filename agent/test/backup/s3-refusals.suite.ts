// An S3 server that refuses: the command line says why in one line, and the store is unchanged.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteBucketPolicyCommand, PutBucketPolicyCommand, type S3Client } from '@aws-sdk/client-s3';
import { ExitCode } from '../../src/lib/errors.ts';
import { BucketPlace } from '../faults/bucket-place.ts';
import {
  backup,
  command,
  expectFailure,
  expectOnly,
  run,
  start,
  succeed,
  untilOld,
  wholeSnapshots,
} from '../faults/commands.ts';
import type { AgentResult } from '../harness/agent.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { HoldProxy, type ProxiedRequest } from '../harness/proxies/hold-proxy.ts';
import { Radosgw } from '../harness/radosgw.ts';
import { s3Client } from '../harness/s3-server.ts';
import { Versitygw } from '../harness/versitygw.ts';
import { S3Stub, type StubAnswer } from '../support/s3-stub.ts';
import { secretDirectory } from '../support/secret-directory.ts';

const MIB = 1024 * 1024;
const { storeRefused } = ExitCode;

let root: string;
let etcd: EtcdCluster;
let ceph: Radosgw;
let admin: S3Client;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 's3-refusals-'));
  [etcd, ceph] = await Promise.all([EtcdCluster.start(), Radosgw.start()]);
  admin = s3Client(ceph);
  // Three parts of the default size.
  await etcd.put(14, { prefix: 'large-', valueSize: MIB });
});
afterAll(async () => {
  admin?.destroy();
  await Promise.all([etcd?.stop(), ceph?.stop()]);
  await rm(root, { recursive: true, force: true });
});

const args = (store: string, ...more: string[]) => backup(etcd, store, '--compression', 'none', ...more);
const part = (n: number) => (request: ProxiedRequest) => request.path.includes(`partNumber=${n}&`);
const isManifest = ({ method, path }: ProxiedRequest) => method === 'PUT' && path.includes('.json');

/** A bucket with one snapshot, and the id of that snapshot. */
async function prepared(): Promise<{ place: BucketPlace; old: string }> {
  const place = await BucketPlace.make(ceph);
  const { snapshot } = await succeed(backup(etcd, place.store));
  return { place, old: snapshot.id };
}

/** Runs a backup and changes the bucket just before the server receives a certain request. */
async function changedAt(
  place: BucketPlace,
  match: (request: ProxiedRequest) => boolean,
  change: () => Promise<unknown>,
  store = (endpoint: string) => place.through(endpoint),
): Promise<AgentResult> {
  await using proxy = await HoldProxy.start(ceph.endpoint);
  proxy.holdBefore(match);
  const agent = start(args(store(proxy.endpoint)));
  await proxy.held;
  await change();
  await proxy.release();
  return await agent.finished;
}

const deny = (bucket: string, ...actions: string[]) => {
  const Resource = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`];
  const Statement = [{ Effect: 'Deny', Principal: '*', Action: actions.map((action) => `s3:${action}`), Resource }];
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement });
  return admin.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
};
const allow = (bucket: string) => admin.send(new DeleteBucketPolicyCommand({ Bucket: bucket }));

async function limit(bucket: string, ...size: string[]): Promise<void> {
  await ceph.admin('quota', 'set', '--quota-scope', 'bucket', '--bucket', bucket, ...size);
  await ceph.admin('quota', 'enable', '--quota-scope', 'bucket', '--bucket', bucket);
}
const unlimit = (bucket: string) => ceph.admin('quota', 'disable', '--quota-scope', 'bucket', '--bucket', bucket);

describe('a bucket that we may only read', () => {
  test('from the beginning', async () => {
    const { place, old } = await prepared();
    await deny(place.bucket, 'PutObject');
    expectFailure(
      await run(args(place.store)),
      storeRefused,
      /AccessDenied \(403\): .*grant the permission on the bucket/,
    );
    await expectOnly(place, [old]);
    expect(await wholeSnapshots(place)).toEqual([old]);
  });

  test.each<[string, (request: ProxiedRequest) => boolean]>([
    ['between two parts', part(2)],
    ['before the manifest', isManifest],
  ])('from %s on', async (_, match) => {
    const { place, old } = await prepared();
    const result = await changedAt(place, match, () => deny(place.bucket, 'PutObject'));
    expectFailure(result, storeRefused, /AccessDenied \(403\)/);
    await expectOnly(place, [old]);
    await allow(place.bucket);
    expect(await wholeSnapshots(place)).toEqual([old]);
  });

  test('until the end: objects that cannot be removed are never listed, and the next run sweeps them', async () => {
    const { place, old } = await prepared();
    const actions = ['PutObject', 'DeleteObject', 'AbortMultipartUpload'];
    const result = await changedAt(place, part(2), () => deny(place.bucket, ...actions));
    expectFailure(result, storeRefused, /AccessDenied \(403\)/);
    expect(await place.unfinished()).toHaveLength(1);
    const { snapshots, broken } = await succeed(command('list', place.store));
    expect([snapshots.map(({ id }: { id: string }) => id), broken]).toEqual([[old], []]);
    await allow(place.bucket);
    await untilOld();
    const { snapshot } = await succeed(args(place.store, '--sweep-age', '1ms'));
    await expectOnly(place, [snapshot.id, old]);
  });
});

describe('a store that is full', () => {
  test.each<[string, string[]]>([
    ['in the middle of the payload', ['--max-size', String(8 * MIB)]],
    ['at the manifest', ['--max-objects', '3']],
  ])('%s: refused, nothing left, and it works again with more room', async (_, size) => {
    const place = await BucketPlace.make(ceph);
    await place.put('elsewhere/a', Buffer.from('x'));
    await place.put('elsewhere/b', Buffer.from('x'));
    await limit(place.bucket, ...size);
    expectFailure(await run(args(place.store)), storeRefused, /QuotaExceeded \(403\): the store is full/);
    expect(await place.keys()).toEqual(['elsewhere/a', 'elsewhere/b']);
    expect(await place.unfinished()).toEqual([]);
    expect(await wholeSnapshots(place)).toEqual([]);
    await unlimit(place.bucket);
    const { snapshot } = await succeed(args(place.store));
    expect(await wholeSnapshots(place)).toEqual([snapshot.id]);
  });
});

describe('credentials', () => {
  test.each<[string, (request: ProxiedRequest) => boolean]>([
    ['between two parts', part(2)],
    ['before the manifest', isManifest],
  ])('revoked %s: refused; with new ones the next run sweeps', async (name, match) => {
    const { place, old } = await prepared();
    const [key, secret] = [`key ${name}`, `secret ${name}`].map((text) => text.replaceAll(' ', '-'));
    await ceph.addKey(key!, secret!);
    const files = { AWS_ACCESS_KEY_ID: key!, AWS_SECRET_ACCESS_KEY: secret! };
    const { path: credentialsDirectory } = secretDirectory(join(root, key!), files);
    const store = (endpoint: string) =>
      `s3://${place.bucket}?${new URLSearchParams({ endpoint, credentialsDirectory })}`;
    const result = await changedAt(place, match, () => ceph.removeKey(key!), store);
    expectFailure(result, storeRefused, /InvalidAccessKeyId \(403\): the server does not know the access key/);
    expect(result.stdout + result.stderr).not.toMatch(`${key}|${secret}`);
    const { snapshots } = await succeed(command('list', place.store));
    expect(snapshots.map(({ id }: { id: string }) => id)).toEqual([old]);
    await untilOld();
    const { snapshot } = await succeed(args(place.store, '--sweep-age', '1ms'));
    await expectOnly(place, [snapshot.id, old]);
  });
});

describe('a wrong region', () => {
  test('versitygw names the right region', async () => {
    await using server = await Versitygw.start();
    const place = await BucketPlace.make(server);
    const result = await run(args(`${place.store}&region=eu-west-9`));
    expectFailure(result, storeRefused, /set region=us-east-1/);
    expect(await place.keys()).toEqual([]);
  });

  // AWS answers like this to a listing, to a bucket of another region, and to a signature for another region.
  const header = { 'x-amz-bucket-region': 'eu-right-1' };
  const body = (inner: string) => `<Error>${inner}<Message>the words of the server</Message></Error>`;
  test.each<[string, StubAnswer]>([
    ['301 PermanentRedirect', { status: 301, code: 'PermanentRedirect', headers: header }],
    ['301 without a body', { status: 301, headers: header }],
    ['400 with a header', { status: 400, code: 'AuthorizationHeaderMalformed', headers: header }],
    [
      '400 with the region in the body',
      { status: 400, body: body('<Code>AuthorizationHeaderMalformed</Code><Region>eu-right-1</Region>') },
    ],
    [
      '400 with the region in its words',
      {
        status: 400,
        code: 'AuthorizationHeaderMalformed',
        message: "The authorization header is malformed; the region 'us-east-1' is wrong; expecting 'eu-right-1'",
      },
    ],
  ])('%s', async (_, answer) => {
    await using stub = await S3Stub.start();
    stub.intercept = () => answer;
    const files = { AWS_ACCESS_KEY_ID: 'stub-access', AWS_SECRET_ACCESS_KEY: 'stub-secret' };
    const { path: credentialsDirectory } = secretDirectory(join(root, `stub-${stub.port}`), files);
    const parameters = new URLSearchParams({ endpoint: stub.endpoint, credentialsDirectory });
    const result = await run(args(`s3://${stub.bucket}?${parameters}`));
    expectFailure(result, storeRefused, /the bucket is in eu-right-1; set region=eu-right-1$/);
    expect(stub.objects.size).toBe(0);
  });
});

test('a missing bucket', async () => {
  const { place } = await prepared();
  const store = place.store.replace(place.bucket, 'nobucket');
  expectFailure(await run(args(store)), storeRefused, /NoSuchBucket \(404\): the bucket does not exist; create it/);
});
