import { Duration } from 'cdk8s';
import { podOf, schedule, storesOf } from '../../test/synth';
import {
  BackupStore,
  CaBundle,
  OssCredentials,
  S3Credentials,
  type S3StoreProps,
  ServerSideEncryption,
  SseCustomerKey,
} from '..';

const credentials = S3Credentials.fromSecret('s3');
const scheduleTo = (props: Partial<S3StoreProps>) =>
  schedule({ store: BackupStore.s3({ bucket: 'backups', credentials, ...props }) });

test('every property of an S3 store reaches the agent, in a fixed order', () => {
  const backup = scheduleTo({
    kmsKeyId: 'alias/backup',
    serverSideEncryption: ServerSideEncryption.KMS,
    credentials: S3Credentials.fromSecret('aws', { profile: 'backup' }),
    ca: CaBundle.fromSecret('ca', 'bundle.pem'),
    pathStyle: false,
    endpoint: 'https://s3.example.com:9000',
    region: 'eu-west-1',
    prefix: '/etcd/eu/',
  });
  expect(JSON.stringify(storesOf(backup)[0].s3)).toBe(
    JSON.stringify({
      bucket: 'backups',
      prefix: 'etcd/eu',
      region: 'eu-west-1',
      endpoint: 'https://s3.example.com:9000',
      pathStyle: false,
      caFile: '/etc/etcd-agent/stores/0/ca/ca.crt',
      credentialsDirectory: '/etc/etcd-agent/stores/0/credentials',
      profile: 'backup',
      serverSideEncryption: 'aws:kms',
      kmsKeyId: 'alias/backup',
    }),
  );
  expect(podOf(backup).volumes[1]).toEqual({
    name: 'store-0-ca',
    secret: { secretName: 'ca', defaultMode: 0o440, items: [{ key: 'bundle.pem', path: 'ca.crt' }] },
  });
});

test('all keys of a Secret are mounted, for the agent to find the ones it knows', () => {
  expect(podOf(scheduleTo({})).volumes[0].secret).toEqual({ secretName: 's3', defaultMode: 0o440 });
});

test('a key for SSE-C is mounted, and the agent gets its path', () => {
  const backup = scheduleTo({ sseCustomerKey: SseCustomerKey.fromSecret('sse', 'sse.key') });
  expect(storesOf(backup)[0].s3.sseCustomerKeyFile).toBe('/etc/etcd-agent/stores/0/sse-customer-key/key');
  const pod = podOf(backup);
  expect(pod.volumes[1]).toEqual({
    name: 'store-0-sse-customer-key',
    secret: { secretName: 'sse', defaultMode: 0o440, items: [{ key: 'sse.key', path: 'key' }] },
  });
  expect(pod.containers[0].volumeMounts[1]).toMatchObject({
    name: 'store-0-sse-customer-key',
    mountPath: '/etc/etcd-agent/stores/0/sse-customer-key',
    readOnly: true,
  });
});

test("keys of any name are mounted under AWS' names", () => {
  const mapped = S3Credentials.fromSecret('s3', {
    accessKeyIdKey: 'user',
    secretAccessKeyKey: 'pass',
    sessionTokenKey: 'token',
  });
  expect(podOf(scheduleTo({ credentials: mapped, endpoint: 'minio' })).volumes[0].secret.items).toEqual([
    { key: 'user', path: 'AWS_ACCESS_KEY_ID' },
    { key: 'pass', path: 'AWS_SECRET_ACCESS_KEY' },
    { key: 'token', path: 'AWS_SESSION_TOKEN' },
  ]);
});

test('workload identity mounts nothing', () => {
  const backup = scheduleTo({ credentials: S3Credentials.workloadIdentity() });
  expect(storesOf(backup)).toEqual([{ s3: { bucket: 'backups' } }]);
  expect(podOf(backup).volumes.map(({ name }: { name: string }) => name)).toEqual(['tmp']);
});

test.each(['minio', 'minio:9000', 'http://10.0.0.1:7070', 'https://s3.example.com/', ''])(
  'the endpoint %j is fine without a region',
  (endpoint) => {
    const [{ s3 }] = storesOf(scheduleTo({ endpoint }));
    expect(s3.endpoint).toBe(endpoint || undefined);
  },
);

test('a claim and an NFS export are mounted completely, and the agent gets the folder', () => {
  const claim = schedule({ store: BackupStore.filesystem({ claimName: 'backups' }) });
  expect(storesOf(claim)).toEqual([{ filesystem: { path: '/backup/0' } }]);
  expect(podOf(claim).volumes[0]).toEqual({ name: 'store-0', persistentVolumeClaim: { claimName: 'backups' } });

  const nfs = { server: '10.0.0.1', path: '/srv' };
  const exported = schedule({ store: BackupStore.filesystem({ nfs, directory: 'etcd/eu' }) });
  expect(storesOf(exported)).toEqual([{ filesystem: { path: '/backup/0/etcd/eu' } }]);
  expect(podOf(exported).volumes[0]).toEqual({ name: 'store-0', nfs });
});

test('every property of an OSS store reaches the agent, in a fixed order', () => {
  const credentials = OssCredentials.fromSecret('oss', { accessKeyIdKey: 'id', accessKeySecretKey: 'secret' });
  const endpoint = 'oss-eu-central-1-internal.aliyuncs.com';
  const ca = CaBundle.fromSecret('ca');
  const backup = schedule({
    store: BackupStore.oss({ ca, credentials, endpoint, region: 'eu-central-1', prefix: '/etcd/', bucket: 'backups' }),
  });
  expect(JSON.stringify(storesOf(backup)[0])).toBe(
    JSON.stringify({
      oss: {
        bucket: 'backups',
        prefix: 'etcd',
        region: 'eu-central-1',
        endpoint,
        caFile: '/etc/etcd-agent/stores/0/ca/ca.crt',
        credentialsDirectory: '/etc/etcd-agent/stores/0/credentials',
      },
    }),
  );
  expect(podOf(backup).volumes[0].secret.items).toEqual([
    { key: 'id', path: 'accessKeyID' },
    { key: 'secret', path: 'accessKeySecret' },
  ]);
  expect(podOf(backup).volumes[1].secret.secretName).toBe('ca');
});

test('an OSS store needs no more than a bucket and a Secret', () => {
  const backup = schedule({
    store: BackupStore.oss({ bucket: 'backups', credentials: OssCredentials.fromSecret('o') }),
  });
  const credentialsDirectory = '/etc/etcd-agent/stores/0/credentials';
  expect(storesOf(backup)).toEqual([{ oss: { bucket: 'backups', credentialsDirectory } }]);
  expect(podOf(backup).volumes[0].secret).toEqual({ secretName: 'o', defaultMode: 0o440 });
});

test('the agent gets the path and the environment of the executables of a command store', () => {
  const image = 'registry.example.com/agent:1';
  const plain = schedule({ image, store: BackupStore.command({ path: '/opt/store' }) });
  expect(storesOf(plain)).toEqual([{ command: { path: '/opt/store' } }]);
  expect(podOf(plain).volumes.map(({ name }: { name: string }) => name)).toEqual(['tmp']);

  const whole = schedule({
    image,
    store: BackupStore.command({
      idleTimeout: Duration.minutes(5),
      credentialsSecretName: 'ssh',
      env: { TARGET: 'etcd@backup' },
      path: '/opt/store',
    }),
  });
  expect(JSON.stringify(storesOf(whole)[0].command)).toBe(
    JSON.stringify({
      path: '/opt/store',
      env: { TARGET: 'etcd@backup' },
      credentialsDirectory: '/etc/etcd-agent/stores/0/credentials',
      idleTimeout: '5m',
    }),
  );
  expect(podOf(whole).volumes[0]).toEqual({
    name: 'store-0-credentials',
    secret: { secretName: 'ssh', defaultMode: 0o440 },
  });
});
