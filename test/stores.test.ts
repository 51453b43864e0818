import { BackupStore, CaBundle, S3Credentials, type S3StoreProps, ServerSideEncryption } from '../src';
import { podOf, schedule, storesOf } from './synth';

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

test('a claim and an NFS export are mounted whole, and the agent is told the folder', () => {
  const claim = schedule({ store: BackupStore.filesystem({ claimName: 'backups' }) });
  expect(storesOf(claim)).toEqual([{ filesystem: { path: '/backup/0' } }]);
  expect(podOf(claim).volumes[0]).toEqual({ name: 'store-0', persistentVolumeClaim: { claimName: 'backups' } });

  const nfs = { server: '10.0.0.1', path: '/srv' };
  const exported = schedule({ store: BackupStore.filesystem({ nfs, directory: 'etcd/eu' }) });
  expect(storesOf(exported)).toEqual([{ filesystem: { path: '/backup/0/etcd/eu' } }]);
  expect(podOf(exported).volumes[0]).toEqual({ name: 'store-0', nfs });
});
