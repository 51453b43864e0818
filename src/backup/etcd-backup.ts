import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { durationText } from '../lib/duration';
import { annotated } from '../lib/labels';
import { namesakeProblems, takeName } from '../lib/name-registry';
import { enumText } from '../resource/enum-text';
import { normalSpec } from '../resource/normal-spec';
import { emittedProblems, withFound } from '../resource/prop-problems';
import type { EtcdBackupSpec, JobOverrideSpec } from '../resource/types';
import { placeOf } from '../stores/store-place';
import { requireFreeId } from '../validation/construct-id';
import { derivedName } from '../validation/derived-name';
import { endpointUrl } from '../validation/endpoints';
import { nameOf } from '../validation/named';
import * as types from '../validation/property-types';
import { requireTypes } from '../validation/type-checks';
import { addBackupFolder, type BackupFolder, sharedFolderProblems } from './backup-folders';
import { givenResources } from './backup-resources';
import { backupProblems, backupPropNames } from './etcd-backup-problems';
import type { EtcdBackupProps } from './etcd-backup-props';
import { isExistingEtcd, isMisnamed } from './etcd-cluster-checks';
import type { IEtcdCluster } from './i-etcd-cluster';
import { accountAnnotations, jobAccount } from './job-identity';
import { jobFieldsOf } from './job-options';

/**
 * Requests a single backup from the reconciler of the namespace, for example before a release. `kubectl get etcdbackup`
 * shows its result, and `RestoreSource.backup` restores it.
 */
export class EtcdBackup extends Construct {
  /** Names the resource. */
  readonly backupName: string;
  /** This custom resource requests the backup from the reconciler. */
  readonly customResource: ApiObject;
  /** The Job runs as this ServiceAccount. It is defined only if the workload identity of `store` has annotations. */
  readonly serviceAccount?: ApiObject;

  /**
   * Creates the resource.
   *
   * @param scope The chart, or a construct inside of one.
   * @param id An id that is unique within `scope`. By default, the resource is named `<cluster>-<id>`, or `<id>` with `endpoints`.
   * @param props What to back up, and where to store the snapshot.
   */
  constructor(scope: Construct, id: string, props: EtcdBackupProps) {
    super(scope, requireFreeId(scope, id));
    if (!props._written) requireTypes(this, props, types.EtcdBackupProps);
    const { cluster } = props;
    this.backupName = props.name ?? derivedName(cluster ? `${cluster.clusterName}-${id}` : id);
    const labels = {
      'app.kubernetes.io/name': 'etcd-backup',
      'app.kubernetes.io/instance': this.backupName,
      ...(cluster && { 'app.kubernetes.io/part-of': cluster.clusterName }),
      'app.kubernetes.io/managed-by': 'cdk8s',
      ...props.labels,
    };
    const spec = normalSpec('EtcdBackup', props._written ?? backupSpec(props));
    this.serviceAccount = jobAccount(this, 'backup', { name: this.backupName, labels }, spec);
    this.customResource = new ApiObject(this, 'EtcdBackup', {
      apiVersion: 'cdk8s-etcd.dev/v1alpha1',
      kind: 'EtcdBackup',
      metadata: { name: this.backupName, labels, ...annotated(spec.annotations) },
      spec,
    });
    this.node.defaultChild = this.customResource;
    takeName(this, 'EtcdBackup', this.backupName);
    const folder = backupFolder(this.backupName, spec, cluster);
    if (folder) addBackupFolder(this, folder);
    this.node.addValidation({
      validate: () => {
        const own = [
          ...backupProblems(this, this.backupName, props, spec),
          ...namesakeProblems(this, 'EtcdBackup', 'backup', this.backupName),
          ...(folder ? sharedFolderProblems(this, folder) : []),
        ];
        return withFound(own, emittedProblems(this.customResource, backupPropNames, isMisnamed(cluster)));
      },
    });
  }
}

/** Undefined if the backup has its own key or prefix, or is stored with the backups of a schedule. */
function backupFolder(
  backupName: string,
  { clusterName, endpoints, store, key, prefix }: EtcdBackupSpec,
  cluster: IEtcdCluster | undefined,
): BackupFolder | undefined {
  if (!store || key !== undefined || prefix !== undefined) return undefined;
  return {
    property: 'store',
    place: placeOf(store),
    cluster: clusterName ?? backupName,
    endpoints: endpoints ?? cluster?.clientEndpoints ?? [],
  };
}

function backupSpec(props: EtcdBackupProps): EtcdBackupSpec {
  const { dialTimeout, timeout } = props;
  return {
    ...sourceSpec(props),
    schedule: props.schedule && derivedName(props.schedule),
    store: props.store?._definition().pod,
    key: props.key,
    prefix: props.prefix,
    compression: enumText(props.compression),
    encryption: props.encryption?._spec(),
    timeouts:
      dialTimeout || timeout
        ? { dial: dialTimeout && durationText(dialTimeout), total: timeout && durationText(timeout) }
        : undefined,
    serviceAccountName: nameOf(props.serviceAccountName),
    serviceAccountAnnotations: accountAnnotations(props, props.store?._definition()),
    image: props.image,
    resources: givenResources(props.resources),
    ...jobFieldsOf<JobOverrideSpec>(props),
  };
}

function sourceSpec({ cluster, endpoints, tls, auth }: EtcdBackupProps): EtcdBackupSpec {
  if (!cluster || !isExistingEtcd(cluster))
    return { clusterName: cluster?.clusterName, ...endpointsSpec(endpoints, tls, auth) };
  return endpointsSpec(
    endpoints ?? cluster.clientEndpoints,
    tls ?? cluster.clientTls,
    auth ?? cluster._existing().auth,
  );
}

function endpointsSpec(
  endpoints: readonly string[] | undefined,
  tls: EtcdBackupProps['tls'],
  auth: EtcdBackupProps['auth'],
): EtcdBackupSpec {
  return {
    endpoints: endpoints?.map((endpoint) => endpointUrl(endpoint, tls !== undefined)),
    tls: tls?._pod(),
    auth: auth?._files(),
  };
}
