import { Cron, Duration, Size } from 'cdk8s';
import { cluster, objectOf, templateOf, userSecrets } from '../../test/clusters';
import { checkSchema } from '../../test/kubernetes';
import { s3 } from '../../test/synth';
import {
  BackupStore,
  Compression,
  DeletionPolicy,
  Encryption,
  type EtcdCluster,
  EtcdTls,
  EtcdVersion,
  NoSpacePolicy,
  ReplacePolicy,
  RestoreSource,
  Retention,
  S3Credentials,
} from '..';

const namesOfUser = {
  ...{ peerSecret: 'orders-peer', serverSecret: 'orders-server', clientSecret: 'orders-client' },
  ...{ rootSecret: 'orders-root', backupSecret: 'orders-backup' },
};
const nightly = { schedule: Cron.daily(), store: s3 };

describe('the custom resource', () => {
  const specOf = (subject: EtcdCluster) => objectOf(subject, 'EtcdCluster').spec;

  test('has the size, the version and the volume, and leaves everything else to the defaults of the CRD', () => {
    const plain = { size: 3, version: '3.6.16', storage: { size: '8Gi' } };
    expect(specOf(cluster({ tls: EtcdTls.none() }))).toEqual(plain);
    expect(specOf(cluster())).toEqual({ ...plain, tls: expect.any(Object) });
  });

  test('names the Secrets that the reconciler fills with certificates', () => {
    const names = {
      peerAuthority: 'orders-peer-ca',
      clientAuthority: 'orders-client-ca',
    };
    const props = {
      serverNames: ['etcd.example.com'],
      intermediateRotation: '2026-11',
      rootRotation: 'b',
      intermediateRevocation: 'c',
    };
    expect(specOf(cluster()).tls).toEqual({
      peerSecret: 'orders-peer-tls',
      serverSecret: 'orders-server-tls',
      clientSecret: 'orders-client-tls',
      rootSecret: 'orders-root-tls',
      backupSecret: 'orders-backup-tls',
      managed: names,
    });
    const other = specOf(cluster({ tls: EtcdTls.managed(props), clusterDomain: 'k8s.example' }));
    expect(other.tls.managed).toEqual({ ...names, ...props });
    expect(other.clusterDomain).toBe('k8s.example');
  });

  test('says that TLS is switched off, and for how long clients may use http when it is switched on', () => {
    const tls = namesOfUser;
    const previous = EtcdTls.fromSecrets({ ...userSecrets, acceptPlaintextFor: Duration.hours(0) });
    expect(specOf(cluster({ tls: previous })).tls).toEqual({ ...tls, acceptPlaintextFor: '0s' });
    expect(specOf(cluster({ tls: EtcdTls.none({ previous }) })).tls).toEqual({
      ...tls,
      acceptPlaintextFor: '0s',
      disabling: true,
    });
  });

  test('leaves it to the reconciler whether users are asked for, unless that was set', () => {
    expect(specOf(cluster())).not.toHaveProperty('auth');
    expect(specOf(cluster({ auth: true })).auth).toBe(true);
    expect(specOf(cluster({ auth: false })).auth).toBe(false);
  });

  test('has everything that was set', () => {
    const subject = cluster({
      auth: true,
      size: 4,
      allowEvenSize: true,
      version: EtcdVersion.V3_7,
      paused: true,
      tls: EtcdTls.fromSecrets(userSecrets),
      volume: { size: Size.gibibytes(20) },
      replace: ReplacePolicy.manual({ ordinal: 2, memberId: '8e9e05c52164694d', discardVolume: true }),
      origin: { source: RestoreSource.backup('before-the-move'), identitySecret: 'age' },
      recovery: { id: 'first', acceptDataLoss: true, survivor: 1 },
      onShrink: DeletionPolicy.DELETE,
      onDelete: DeletionPolicy.DELETE,
      requireBackupForUpgrade: true,
      onNoSpace: NoSpacePolicy.REPORT,
    });
    subject.addBackupSchedule('nightly', nightly);
    expect(specOf(subject)).toEqual({
      size: 4,
      allowEvenSize: true,
      version: '3.7.3',
      paused: true,
      tls: namesOfUser,
      auth: true,
      storage: { size: '20Gi' },
      replace: { policy: 'Manual', force: [{ ordinal: 2, memberId: '8e9e05c52164694d', discardVolume: true }] },
      origin: { source: { backupName: 'before-the-move' }, identitySecret: 'age' },
      recovery: { id: 'first', acceptDataLoss: true, survivor: 1 },
      pvcPolicy: { onShrink: 'Delete', onDelete: 'Delete' },
      backup: {
        schedule: 'nightly',
        schedules: [expect.objectContaining({ name: 'nightly' })],
        requiredForUpgrade: true,
      },
      finalBackup: { required: true },
      maintenance: { onNoSpace: 'Report' },
    });
    checkSchema(objectOf(subject, 'EtcdCluster'));
  });

  test('knows ephemeral volumes, which have no claims', () => {
    expect(specOf(cluster({ volume: { ephemeral: true } })).storage).toEqual({ size: '8Gi', ephemeral: true });
  });

  test('has the version of the image', () => {
    const subject = cluster({ image: 'registry.example.com/etcd:v3.5.30' });
    expect(specOf(subject).version).toBe('3.5.30');
    const [etcd] = templateOf(subject).spec.containers;
    expect(etcd.image).toBe('registry.example.com/etcd:v3.5.30');
  });

  test('has every backup schedule, with all that the reconciler needs for its own backups', () => {
    const subject = cluster();
    const first = subject.addBackupSchedule('nightly', {
      ...nightly,
      compression: Compression.GZIP,
      retention: Retention.last(7),
      encryption: Encryption.age({ recipients: ['age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj'] }),
    });
    subject.addBackupSchedule('hourly', { schedule: Cron.hourly(), store: s3, retention: Retention.last(7) });
    // Another store, after everything else.
    first.addStore(BackupStore.s3({ bucket: 'far-away', credentials: S3Credentials.workloadIdentity() }));
    const { backup } = specOf(subject);
    expect(backup.schedule).toBe('nightly');
    expect(backup.schedules).toEqual([
      expect.objectContaining({
        name: 'nightly',
        cron: '0 0 * * *',
        compression: 'gzip',
        encryption: { age: { recipients: [expect.stringMatching(/^age1/)] } },
        stores: [
          expect.objectContaining({ s3: expect.objectContaining({ bucket: 'backups' }), retention: { last: 7 } }),
          { s3: { bucket: 'far-away' } },
        ],
      }),
      expect.objectContaining({ name: 'hourly' }),
    ]);
    checkSchema(objectOf(subject, 'EtcdCluster'));
  });

  test('leaves out a schedule that was removed from the tree', () => {
    const subject = cluster();
    subject.addBackupSchedule('nightly', nightly);
    subject.addBackupSchedule('hourly', nightly);
    subject.node.tryRemoveChild('nightly');
    expect(specOf(subject).backup).toEqual({
      schedule: 'hourly',
      schedules: [expect.objectContaining({ name: 'hourly' })],
    });
  });

  test('names the schedule of backupSchedule for these backups', () => {
    const subject = cluster({ backupSchedule: 'hourly' });
    subject.addBackupSchedule('nightly', nightly);
    subject.addBackupSchedule('hourly', nightly);
    expect(specOf(subject).backup.schedule).toBe('hourly');
  });
});
