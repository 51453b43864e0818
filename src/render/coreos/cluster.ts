import { EtcdVersion } from '../../etcd/etcd-version';
import type { BackupScheduleSpec, EtcdClusterSpec } from '../../resource/types';
import type { Document } from '../documents';
import type { Fields } from '../fields';
import { annotationsLost, metadataLabels } from '../metadata';
import { hostsOf, type Images, noteMove, oldSize, supportedVersion } from '../older-operators';
import type { PlannedCluster } from '../plan';
import { cronInterval, positive, retention } from './backup';
import { coreosPod } from './pod';

/** Repository from which that operator takes etcd by default. */
const defaultRepository = 'quay.io/coreos/etcd';

export function coreosCluster(document: Document): PlannedCluster {
  const { name, spec, report } = document;
  noteMove(document, 'a Service', `${name}-client:2379`);
  const labels = metadataLabels(document);
  annotationsLost(document);
  if (spec.boolean('paused')) spec.lose('paused', 'a new cluster that is paused would never start; remove it');
  loseOthers(document);
  const backup = ownBackup(document);
  const images = imagesOf(document);
  const pod = coreosPod(spec.object('pod'), EtcdVersion.of(images.version), report);
  return {
    kind: 'EtcdCluster',
    name,
    document,
    spec: {
      ...oldSize(document),
      ...images,
      ...pod,
      labels: labels || pod.labels ? { ...labels, ...pod.labels } : undefined,
      tls: tls(document, spec.object('TLS')),
      backup: backup && { schedules: [backup] },
    },
    schedules: backup && [{ document, path: 'spec.backup' }],
    old: hostsOf(document, (host) => host === `${name}-client` || host === name || host.endsWith(`.${name}`)),
  };
}

/** Until its version 0.6, that operator took the backups of a cluster by a field of the cluster. */
function ownBackup({ spec, report }: Document): BackupScheduleSpec | undefined {
  const backup = spec.object('backup');
  if (!backup) return undefined;
  const seconds = positive(backup, 'backupIntervalInSecond') ?? 1_800;
  const kept = retention(backup);
  const type = backup.text('storageType');
  const s3 = backup.object('s3');
  const [bucket, prefix, secretName] = ['s3Bucket', 'prefix', 'awsSecret'].map((key) => s3?.text(key));
  // The other kinds of stores, and their fields.
  backup.ignore(...backup.keys);
  if (type !== 'S3' || bucket === undefined || secretName === undefined) {
    spec.lose(
      'backup',
      'took the backups of this cluster, and only those with storageType: S3, s3.s3Bucket and s3.awsSecret can go on; to continue them elsewhere, add an EtcdBackup with a spec.backupPolicy to this file',
    );
    return undefined;
  }
  const { cron, text } = cronInterval(seconds);
  report.note(
    'spec.backup',
    `becomes the backup schedule 'backup', each ${text}; its backups have other object names, and the old ones are kept, so delete them by hand when you no longer need them`,
  );
  return { name: 'backup', cron, stores: [{ s3: { bucket, prefix, credentials: { secretName } }, retention: kept }] };
}

function loseOthers({ name, spec }: Document): void {
  spec.lose(
    'selfHosted',
    'held the data of its own API server; back up that etcd with a ControlPlaneEtcdBackup instead',
  );
  spec.lose('restore', `restored this cluster; to start '${name}' from a snapshot, add an EtcdRestore to this file`);
}

function imagesOf({ spec, report }: Document): Images {
  const given = spec.text('version');
  const repository = spec.text('repository') ?? spec.text('baseImage');
  const { version: usual } = EtcdVersion.V3_6;
  if (given === undefined) {
    report.note('spec.version', `is missing, and that operator then ran 3.2.13; it becomes ${usual}`);
    return inRepository(repository, usual);
  }
  const supported = supportedVersion(given);
  if (!supported) {
    report.error('spec.version', 'is not a known version of etcd; write it like 3.6.16, with 3.5, 3.6 or 3.7');
    return { version: usual };
  }
  const images = inRepository(repository, supported.version);
  if (supported.note) {
    report.note('spec.version', supported.note);
    if (images.image !== undefined) report.note('spec.repository', `must contain the image ${images.image}`);
  }
  return images;
}

/** That operator expects a repository to have the same tags as etcd's own. */
const inRepository = (repository: string | undefined, version: string): Images => ({
  version,
  image: repository === undefined || repository === defaultRepository ? undefined : `${repository}:v${version}`,
});

function tls({ name, report }: Document, policy: Fields | undefined): EtcdClusterSpec['tls'] {
  const secrets = policy?.object('static');
  const member = secrets?.object('member');
  const peer = member?.text('peerSecret');
  const server = member?.text('serverSecret');
  const operator = secrets?.text('operatorSecret');
  if (!peer && !server && !operator) return undefined;
  const peerSecret = `${name}-peer-tls`;
  const serverSecret = `${name}-server-tls`;
  const clientSecret = `${name}-client-tls`;
  const field = 'spec.TLS.static';
  report.lost(
    field,
    `the old Secrets have other keys, and their certificates are for names that the new members do not have; create the Secrets ${peerSecret}, ${serverSecret} and ${clientSecret}, each with ca.crt, tls.crt and tls.key, for the names that docs/clusters/tls.md#with-your-own-secrets lists`,
  );
  if (!peer || !server) {
    const [had, hadNot] = peer ? ['between the members', 'for clients'] : ['for clients', 'between the members'];
    report.note(field, `had TLS ${had}, but not ${hadNot}; it becomes TLS for both`);
  }
  return { peerSecret, serverSecret, clientSecret };
}
