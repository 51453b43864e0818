import type { EtcdClusterProps } from '../../cluster/etcd-cluster-props';
import { EtcdVersion } from '../../etcd/etcd-version';
import { EtcdTls } from '../../tls/etcd-tls';
import type { Document } from '../documents';
import type { Fields } from '../fields';
import { metadataLabels } from '../metadata';
import { hostsOf, noteMove, oldSize, supportedVersion } from '../older-operators';
import type { PlannedCluster } from '../plan';
import { coreosPod } from './pod';

/** Repository from which that operator takes etcd by default. */
const defaultRepository = 'quay.io/coreos/etcd';

export function coreosCluster(document: Document): PlannedCluster {
  const { name, spec, report } = document;
  noteMove(document, 'a Service', `${name}-client:2379`);
  const labels = metadataLabels(document);
  if (spec.boolean('paused')) spec.lose('paused', 'a new cluster that is paused would never start; remove it');
  loseBackups(document);
  const image = imageProps(document);
  const pod = coreosPod(spec.object('pod'), image.version ?? EtcdVersion.V3_6, report);
  return {
    becomes: 'cluster',
    document,
    props: {
      ...oldSize(document),
      ...image,
      ...pod,
      labels: mergedLabels(labels, pod.labels),
      tls: tls(document, spec.object('TLS')),
    },
    schedules: [],
    old: hostsOf(document, (host) => host === `${name}-client` || host === name || host.endsWith(`.${name}`)),
  };
}

/** Until its version 0.6, that operator took and restored the backups of a cluster by fields of the cluster. */
function loseBackups({ name, spec }: Document): void {
  const backup = spec.object('backup');
  const policy = ['backupIntervalInSecond', 'maxBackups'].flatMap((key) => {
    const value = backup?.integer(key);
    return value === undefined ? [] : [`${key}: ${value}`];
  });
  backup?.ignore(...backup.keys);
  const given = policy.length > 0 ? ` (${policy.join(', ')})` : '';
  spec.lose(
    'backup',
    `took the backups of this cluster, which end here; to continue them, add an EtcdBackup with the same storage and a spec.backupPolicy${given} to this file`,
  );
  spec.lose(
    'selfHosted',
    'held the data of its own API server; back up that etcd with a ControlPlaneEtcdBackup instead',
  );
  spec.lose('restore', `restored this cluster; to start '${name}' from a snapshot, add an EtcdRestore to this file`);
}

function mergedLabels(...labels: readonly EtcdClusterProps['labels'][]): EtcdClusterProps['labels'] {
  const merged = Object.assign({}, ...labels);
  return Object.keys(merged).length > 0 ? merged : undefined;
}

function imageProps({ spec, report }: Document): Pick<EtcdClusterProps, 'version' | 'image'> {
  const given = spec.text('version');
  const repository = spec.text('repository') ?? spec.text('baseImage');
  if (given === undefined) {
    const { version } = EtcdVersion.V3_6;
    report.note('spec.version', `is missing, and that operator then ran 3.2.13; it becomes ${version}`);
    return repositoryProps(repository, version);
  }
  const supported = supportedVersion(given);
  if (!supported) {
    report.error('spec.version', 'is not a known version of etcd; write it like 3.6.16, with 3.5, 3.6 or 3.7');
    return {};
  }
  if (supported.note) report.note('spec.version', supported.note);
  return repositoryProps(repository, supported.version, ({ image }) => {
    if (supported.note) report.note('spec.repository', `must contain the image ${image}`);
  });
}

/** That operator expects a repository to have the same tags as etcd's own. */
function repositoryProps(
  repository: string | undefined,
  version: string,
  custom: (props: { image: string }) => void = () => {},
): Pick<EtcdClusterProps, 'version' | 'image'> {
  const props = { version: EtcdVersion.of(version) };
  if (repository === undefined || repository === defaultRepository) return props;
  const image = `${repository}:v${version}`;
  custom({ image });
  return { ...props, image };
}

function tls({ name, report }: Document, policy: Fields | undefined): EtcdTls {
  const secrets = policy?.object('static');
  const member = secrets?.object('member');
  const peer = member?.text('peerSecret');
  const server = member?.text('serverSecret');
  const operator = secrets?.text('operatorSecret');
  if (!peer && !server && !operator) return EtcdTls.none();
  const names = { peer: `${name}-peer-tls`, server: `${name}-server-tls`, client: `${name}-client-tls` };
  const field = 'spec.TLS.static';
  report.lost(
    field,
    `the old Secrets have other keys, and their certificates are for names that the new members do not have; create the Secrets ${names.peer}, ${names.server} and ${names.client}, each with ca.crt, tls.crt and tls.key, for the names that docs/clusters/tls.md#with-your-own-secrets lists`,
  );
  if (!peer || !server) {
    const [had, hadNot] = peer ? ['between the members', 'for clients'] : ['for clients', 'between the members'];
    report.note(field, `had TLS ${had}, but not ${hadNot}; it becomes TLS for both`);
  }
  return EtcdTls.fromSecrets(names);
}
