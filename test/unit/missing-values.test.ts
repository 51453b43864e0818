import type { IConstruct } from 'constructs';
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

/** What the construct throws, or finds later. */
function problemsOf(make: () => IConstruct): string[] {
  try {
    return make().node.validate();
  } catch (error) {
    return (error as Error).message.split('\n');
  }
}

test.each<[string, () => BackupStore, string]>([
  ['bucket', () => BackupStore.s3({ ...s3, bucket: missing }), 'store: bucket: is missing; give text in quotes'],
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
    'store: host: is missing; give text in quotes',
  ],
  [
    'server',
    () => BackupStore.filesystem({ nfs: { server: missing, path: '/srv' } }),
    'store: nfs.server: is missing; give text in quotes',
  ],
  [
    'path',
    () => BackupStore.filesystem({ nfs: { server: 'nas', path: missing } }),
    'store: nfs.path: is missing; give text in quotes',
  ],
])('a store without its %s', (_, make, message) => {
  expect(problemsOf(() => schedule({ store: make() }))).toEqual([expect.stringContaining(message)]);
});

test('other values of a schedule', () => {
  const problems = (props: Parameters<typeof schedule>[0]) => problemsOf(() => schedule(props));
  expect(problems({ encryption: Encryption.age({ recipients: [missing] }) })).toEqual([
    expect.stringContaining('encryption: recipients[0]: is missing; give text in quotes'),
  ]);
  expect(problems({ auth: EtcdAuth.fromSecret(missing) })).toEqual([
    expect.stringContaining("auth: Secret: 'undefined' is not a valid Kubernetes name"),
  ]);
  expect(problems({ cluster: missing })).toContainEqual(
    expect.stringContaining('cluster: is missing; give text in quotes'),
  );
  expect(problems({ endpoints: [missing] })).toEqual([
    expect.stringContaining('endpoints[0]: is missing; give text in quotes'),
  ]);
});

test('other values of a cluster', () => {
  const version = EtcdVersion.of(missing);
  expect(cluster({ version }).node.validate()).toEqual([
    expect.stringContaining("version: 'undefined' is not a released"),
  ]);
  const tls = EtcdTls.certManager({ issuer: missing });
  expect(problemsOf(() => cluster({ tls }, 'shop'))).toEqual([expect.stringContaining('tls: issuer: is missing')]);
  const origin = { source: RestoreSource.snapshot(BackupStore.s3(s3), missing) };
  expect(cluster({ origin }).node.validate()).toEqual([
    expect.stringContaining('origin: source: store needs exactly one of snapshot, key, latestVerifiedBefore'),
  ]);
  const keyed = { source: RestoreSource.key(BackupStore.s3(s3), missing) };
  expect(cluster({ origin: keyed }).node.validate()).toEqual([
    expect.stringContaining('origin: source: store needs exactly one of snapshot, key, latestVerifiedBefore'),
  ]);
});
