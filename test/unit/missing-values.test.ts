import {
  BackupStore,
  CaBundle,
  Encryption,
  EtcdAuth,
  EtcdTls,
  EtcdVersion,
  OssCredentials,
  RestoreSource,
  S3Credentials,
  SftpCredentials,
} from '../../src';
import { cluster } from '../clusters';
import { schedule } from '../synth';

// `process.env.NAME!` of a variable that is not set.
const missing = process.env.CDK8S_ETCD_NOT_SET!;
const credentials = S3Credentials.fromSecret('s3');
const s3 = { bucket: 'backups', region: 'eu-west-1', credentials };

test.each<[string, () => BackupStore, string]>([
  ['bucket', () => BackupStore.s3({ ...s3, bucket: missing }), 'bucket: is missing: give it'],
  ['Secret', () => BackupStore.s3({ ...s3, credentials: S3Credentials.fromSecret(missing) }), "Secret: '' is no"],
  ['CA', () => BackupStore.s3({ ...s3, ca: CaBundle.fromSecret(missing) }), "ca: Secret: 'undefined' is no"],
  [
    'Secret of OSS',
    () => BackupStore.oss({ bucket: 'abc', region: 'eu-central-1', credentials: OssCredentials.fromSecret(missing) }),
    "credentials: Secret: 'undefined' is no",
  ],
  [
    'host',
    () => BackupStore.sftp({ host: missing, credentials: SftpCredentials.fromSecret('sftp') }),
    'host: is missing: give it',
  ],
  [
    'server',
    () => BackupStore.filesystem({ nfs: { server: missing, path: '/srv' } }),
    'nfs.server: is missing: give it',
  ],
  ['path', () => BackupStore.filesystem({ nfs: { server: 'nas', path: missing } }), 'nfs.path: is missing: give it'],
])('a store without its %s', (_, make, message) => {
  expect(schedule({ store: make() }).node.validate()).toEqual([expect.stringContaining(message)]);
});

test('other values of a schedule', () => {
  const problems = (props: Parameters<typeof schedule>[0]) => schedule(props).node.validate();
  expect(problems({ encryption: Encryption.age({ recipients: [missing] }) })).toEqual([
    expect.stringContaining('encryption: recipients: the value is not an age recipient'),
  ]);
  expect(problems({ auth: EtcdAuth.fromSecret(missing) })).toEqual([
    expect.stringContaining("auth: Secret: 'undefined' is not a valid Kubernetes name"),
  ]);
  expect(problems({ cluster: missing })).toContainEqual(
    expect.stringContaining("cluster: 'undefined' is not a valid cluster name"),
  );
  expect(problems({ endpoints: [missing] })).toEqual([
    expect.stringContaining("endpoints: 'undefined' is not a valid etcd endpoint"),
  ]);
});

test('other values of a cluster', () => {
  const version = EtcdVersion.of(missing);
  expect(cluster({ version }).node.validate()).toEqual([
    expect.stringContaining("version: 'undefined' is not a released"),
  ]);
  const tls = EtcdTls.certManager({ issuer: missing });
  expect(cluster({ tls }, 'shop').node.validate()).toEqual([expect.stringContaining('tls.issuer: is missing')]);
  const origin = { source: RestoreSource.snapshot(BackupStore.s3(s3), missing) };
  expect(cluster({ origin }).node.validate()).toEqual([
    expect.stringContaining('origin: source: store needs exactly one of snapshot, key, latestVerifiedBefore'),
  ]);
  const keyed = { source: RestoreSource.key(BackupStore.s3(s3), missing) };
  expect(cluster({ origin: keyed }).node.validate()).toEqual([
    expect.stringContaining('origin: source: store needs exactly one of snapshot, key, latestVerifiedBefore'),
  ]);
});
