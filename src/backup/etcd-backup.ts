import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import type { EtcdBackupSpec } from '../../imports/etcdbackup-cdk8s-etcd.dev';
import { durationText } from '../lib/duration';
import { namesakeProblems, takeName } from '../lib/name-registry';
import type { Plain } from '../lib/plain';
import { freeId } from '../validation/construct-id';
import { endpointUrl } from '../validation/endpoints';
import { requireKinds } from '../validation/kinds';
import { backupKinds } from '../validation/property-kinds';
import { addBackupFolder, type BackupFolder, sharedFolderProblems } from './backup-folders';
import { isForeign } from './cluster-kind';
import { backupProblems } from './etcd-backup-problems';
import type { EtcdBackupProps } from './etcd-backup-props';
import { jobAccount } from './job-identity';

/**
 * One backup, taken once, by the reconciler of the namespace: before a release, say. `kubectl get etcdbackup` shows what
 * became of it, and `RestoreSource.backup` restores it.
 */
export class EtcdBackup extends Construct {
  /** The name of the resource. */
  readonly backupName: string;
  /** The custom resource, which the reconciler acts upon. */
  readonly customResource: ApiObject;
  /** The Job's ServiceAccount; only when the workload identity of `store` has annotations for one. */
  readonly serviceAccount?: ApiObject;

  constructor(scope: Construct, id: string, props: EtcdBackupProps) {
    super(scope, freeId(scope, id));
    requireKinds(this, props, backupKinds);
    const { cluster } = props;
    this.backupName = props.name ?? (cluster ? `${cluster.clusterName}-${id}` : id);
    const labels = {
      'app.kubernetes.io/name': 'etcd-backup',
      'app.kubernetes.io/instance': this.backupName,
      ...(cluster && { 'app.kubernetes.io/part-of': cluster.clusterName }),
      'app.kubernetes.io/managed-by': 'cdk8s',
      ...props.labels,
    };
    const account = { name: `${this.backupName}-backup`, labels };
    this.serviceAccount = jobAccount(this, account, props, props.store?._definition());
    this.customResource = new ApiObject(this, 'EtcdBackup', {
      apiVersion: 'cdk8s-etcd.dev/v1alpha1',
      kind: 'EtcdBackup',
      metadata: { name: this.backupName, labels },
      spec: backupSpec(props, props.serviceAccountName ?? this.serviceAccount?.name),
    });
    takeName(this, 'EtcdBackup', this.backupName);
    const folder = backupFolder(this.backupName, props);
    if (folder) addBackupFolder(this, folder);
    this.node.addValidation({
      validate: () => [
        ...backupProblems(this, this.backupName, props),
        ...namesakeProblems(this, 'EtcdBackup', 'backup', this.backupName),
        ...(folder ? sharedFolderProblems(this, folder) : []),
      ],
    });
  }
}

/** None when it lies under a key or a prefix of its own, or with the schedule's. */
function backupFolder(backupName: string, props: EtcdBackupProps): BackupFolder | undefined {
  const { cluster, endpoints, store, key, prefix } = props;
  if (!store || key !== undefined || prefix !== undefined) return undefined;
  return {
    property: 'store',
    place: store._definition().place,
    cluster: cluster && !isForeign(cluster) ? cluster.clusterName : backupName,
    endpoints: endpoints ?? cluster?.clientEndpoints ?? [],
  };
}

function backupSpec(props: EtcdBackupProps, serviceAccountName: string | undefined): Plain<EtcdBackupSpec> {
  const { dialTimeout, timeout } = props;
  return {
    ...sourceSpec(props),
    schedule: props.schedule,
    store: props.store?._definition().pod,
    key: props.key,
    prefix: props.prefix,
    compression: props.compression,
    encryption: props.encryption?._spec(),
    timeouts:
      dialTimeout || timeout
        ? { dial: dialTimeout && durationText(dialTimeout), total: timeout && durationText(timeout) }
        : undefined,
    serviceAccountName,
    image: props.image,
  };
}

function sourceSpec({ cluster, endpoints, tls, auth }: EtcdBackupProps): Plain<EtcdBackupSpec> {
  if (!cluster) return endpointsSpec(endpoints ?? [], tls, auth);
  if (!isForeign(cluster)) return { clusterName: cluster.clusterName };
  return endpointsSpec(cluster.clientEndpoints, cluster.clientTls, cluster._foreign().auth);
}

function endpointsSpec(
  endpoints: readonly string[],
  tls: EtcdBackupProps['tls'],
  auth: EtcdBackupProps['auth'],
): Plain<EtcdBackupSpec> {
  return {
    endpoints: endpoints.map((endpoint) => endpointUrl(endpoint, tls !== undefined)),
    tls: tls?._pod(),
    auth: auth?._files(),
  };
}
