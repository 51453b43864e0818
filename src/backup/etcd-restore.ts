import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { annotated, labelProblems } from '../lib/labels';
import { namesakeProblems, takeName } from '../lib/name-registry';
import { podProblems } from '../lib/pod-problems';
import { jobAccountOf } from '../lib/pods/job-account';
import { defaults } from '../resource/defaults';
import { normalSpec } from '../resource/normal-spec';
import { below, emittedProblems, withFound } from '../resource/prop-problems';
import type { EtcdRestoreSpec, JobOverrideSpec } from '../resource/types';
import { requireFreeId } from '../validation/construct-id';
import { derivedName } from '../validation/derived-name';
import { nameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import * as types from '../validation/property-types';
import { requireTypes } from '../validation/type-checks';
import { type ClusterOrigin, originSpec, restoreProblems } from './cluster-origin';
import {
  isExistingEtcd,
  isMisnamed,
  otherNamespaceProblem,
  reconcilerAccountProblem,
  scheduleIds,
} from './etcd-cluster-checks';
import type { IEtcdCluster } from './i-etcd-cluster';
import { accountAnnotations, jobAccount, jobIdentityProblems, jobPropNames } from './job-identity';
import { type JobOptions, jobFieldsOf } from './job-options';
import { restoreJobProblems } from './job-problems';

/**
 * Configures an `EtcdRestore`. What the properties do not say of the Job that fetches the snapshot, it has of the backup
 * schedule of the cluster, else of its members.
 */
export interface EtcdRestoreProps extends ClusterOrigin, JobOptions {
  /** Selects the cluster whose data is replaced. It must be in the same namespace. */
  readonly cluster: IEtcdCluster;
  /**
   * Names the resource: a Kubernetes name of at most 63 characters. A restore happens once per name: applying the same
   * name again does nothing, so use another name for another restore.
   * @default - `<cluster>-<id>`
   */
  readonly name?: string;
  /**
   * Takes a backup of the present data first, with the settings of the cluster's backup schedule. Without a quorum this
   * backup is impossible and is skipped. What clients write after it was begun is in no backup.
   * @default true
   */
  readonly safetyBackup?: boolean;
  /**
   * Continues even if it cannot be confirmed that a pod on an unreachable node has stopped. If that node is still
   * running, clients that reach only its pod keep writing to the old data, and those writes are lost.
   * @default false
   */
  readonly ignoreUnreachablePods?: boolean;
  /**
   * Allows the same backup to be restored once more: any text that no earlier restore had, such as the date. Without it,
   * a restore that has the same spec as an earlier one, but another name, is refused, because it was probably renamed.
   * @default - the same is restored once, whatever its name
   */
  readonly again?: string;
  /**
   * The restore as its resource has it, in the place of the other properties.
   * @internal
   */
  readonly _written?: EtcdRestoreSpec;
}

/**
 * Replaces the data of a cluster with the data of a backup, once. Clients are disconnected until the restore is
 * complete, and everything that was written after the backup is lost. To create a new cluster from a backup, use
 * `origin` of `EtcdCluster`.
 */
export class EtcdRestore extends Construct {
  /** Names the resource. */
  readonly restoreName: string;
  /** This custom resource requests the restore from the reconciler. */
  readonly customResource: ApiObject;
  /** The Job runs as this ServiceAccount. It is defined only if the workload identity of the store has annotations. */
  readonly serviceAccount?: ApiObject;

  /**
   * Creates the resource.
   *
   * @param scope The chart, or a construct inside of one.
   * @param id An id that is unique within `scope`. By default, the resource is named `<cluster>-<id>`.
   * @param props The cluster to restore, and the snapshot.
   */
  constructor(scope: Construct, id: string, props: EtcdRestoreProps) {
    super(scope, requireFreeId(scope, id));
    if (!props._written) requireTypes(this, props, types.EtcdRestoreProps);
    const { clusterName } = props.cluster;
    this.restoreName = props.name ?? derivedName(`${clusterName}-${id}`);
    const labels = {
      'app.kubernetes.io/name': 'etcd-restore',
      'app.kubernetes.io/instance': this.restoreName,
      'app.kubernetes.io/part-of': clusterName,
      'app.kubernetes.io/managed-by': 'cdk8s',
      ...props.labels,
    };
    const spec = normalSpec('EtcdRestore', props._written ?? restoreSpec(props));
    this.serviceAccount = jobAccount(this, 'restore', { name: this.restoreName, labels }, spec);
    this.customResource = new ApiObject(this, 'EtcdRestore', {
      apiVersion: 'cdk8s-etcd.dev/v1alpha1',
      kind: 'EtcdRestore',
      metadata: { name: this.restoreName, labels, ...annotated(spec.annotations) },
      spec,
    });
    this.node.defaultChild = this.customResource;
    takeName(this, 'EtcdRestore', this.restoreName);
    this.node.addValidation({ validate: () => this.problems(props, spec) });
  }

  private problems(props: EtcdRestoreProps, spec: EtcdRestoreSpec): string[] {
    const own = [
      ...problemsOf(this.nameProblem(props), this.clusterProblem(props), safetyBackupProblem(props.cluster, spec)),
      ...(props._written ? jobIdentityProblems(spec.image, spec.source.store) : restoreProblems(props)),
      ...labelProblems('labels', props.labels),
      ...podProblems(props),
      ...problemsOf(reconcilerAccountProblem(props.cluster, jobAccountOf('restore', this.restoreName, spec))),
      ...restoreJobProblems(props.cluster, spec),
      ...namesakeProblems(this, 'EtcdRestore', 'restore', this.restoreName),
    ];
    return withFound(own, emittedProblems(this.customResource, propNames, isMisnamed(props.cluster)));
  }

  private nameProblem({ name, cluster }: EtcdRestoreProps): string | undefined {
    if (name === undefined && isMisnamed(cluster)) return undefined;
    return nameProblem('name', this.restoreName, 63);
  }

  private clusterProblem({ cluster }: EtcdRestoreProps): string | undefined {
    if (!isExistingEtcd(cluster)) return otherNamespaceProblem(this, cluster);
    return `cluster: '${cluster.clusterName}' is an existing etcd cluster, not an EtcdCluster; restore it with \`etcd-agent restore\`, as docs/backups/restore.md describes`;
  }
}

function safetyBackupProblem(cluster: IEtcdCluster, { safetyBackup }: EtcdRestoreSpec): string | undefined {
  const { safetyBackup: usual } = defaults.EtcdRestoreSpec;
  if (!(safetyBackup ?? usual) || scheduleIds(cluster)?.length !== 0) return undefined;
  return `safetyBackup: '${cluster.clusterName}' has no backup schedule, so there is no store for the backup; add one, or set safetyBackup: false`;
}

const propNames = { 'spec.clusterName': 'cluster', ...below('spec', jobPropNames) };

function restoreSpec(props: EtcdRestoreProps): EtcdRestoreSpec {
  const { cluster, safetyBackup, ignoreUnreachablePods, again } = props;
  return {
    clusterName: cluster.clusterName,
    ...originSpec(props),
    serviceAccountAnnotations: accountAnnotations(props, props.source._store()),
    ...jobFieldsOf<JobOverrideSpec>(props),
    safetyBackup,
    ignoreUnreachablePods,
    again,
  };
}
