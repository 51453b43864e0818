import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import type { EtcdRestoreSpec } from '../../imports/etcdrestore-cdk8s-etcd.dev';
import { labelProblems } from '../lib/labels';
import { namesakeProblems, takeName } from '../lib/name-registry';
import type { Plain } from '../lib/plain';
import { freeId } from '../validation/construct-id';
import { requireKinds } from '../validation/kinds';
import { nameProblem, problemsOf } from '../validation/names';
import { restoreKinds } from '../validation/property-kinds';
import { isForeign, otherNamespaceProblem, scheduleIds } from './cluster-kind';
import { originSpec, restoreProblems } from './cluster-origin';
import type { EtcdRestoreProps } from './etcd-restore-props';
import { jobAccount } from './job-identity';

/**
 * Replaces the data of a cluster with that of a backup, once. Clients are cut off until it is done, and what was written
 * after the backup is lost. For a new cluster from a backup use `origin` of `EtcdCluster`.
 */
export class EtcdRestore extends Construct {
  /** The name of the resource. */
  readonly restoreName: string;
  /** The custom resource, which the reconciler acts upon. */
  readonly customResource: ApiObject;
  /** The Job's ServiceAccount; only when the workload identity of the store has annotations for one. */
  readonly serviceAccount?: ApiObject;

  constructor(scope: Construct, id: string, props: EtcdRestoreProps) {
    super(scope, freeId(scope, id));
    requireKinds(this, props, restoreKinds);
    const { clusterName } = props.cluster;
    this.restoreName = props.name ?? `${clusterName}-${id}`;
    const labels = {
      'app.kubernetes.io/name': 'etcd-restore',
      'app.kubernetes.io/instance': this.restoreName,
      'app.kubernetes.io/part-of': clusterName,
      'app.kubernetes.io/managed-by': 'cdk8s',
      ...props.labels,
    };
    const account = { name: `${this.restoreName}-restore`, labels };
    this.serviceAccount = jobAccount(this, account, props, props.source._store());
    this.customResource = new ApiObject(this, 'EtcdRestore', {
      apiVersion: 'cdk8s-etcd.dev/v1alpha1',
      kind: 'EtcdRestore',
      metadata: { name: this.restoreName, labels },
      spec: restoreSpec(props, props.serviceAccountName ?? this.serviceAccount?.name),
    });
    takeName(this, 'EtcdRestore', this.restoreName);
    this.node.addValidation({ validate: () => this.problems(props) });
  }

  private problems(props: EtcdRestoreProps): string[] {
    return [
      ...problemsOf(
        nameProblem('name', this.restoreName, 63),
        this.clusterProblem(props),
        this.safetyBackupProblem(props),
      ),
      ...restoreProblems(props),
      ...labelProblems('labels', props.labels),
      ...namesakeProblems(this, 'EtcdRestore', 'restore', this.restoreName),
    ];
  }

  private safetyBackupProblem({ cluster, safetyBackup = true }: EtcdRestoreProps): string | undefined {
    if (!safetyBackup || scheduleIds(cluster)?.length !== 0) return undefined;
    return `safetyBackup: '${cluster.clusterName}' has no backup schedule that says where to; call addBackupSchedule, or say safetyBackup: false`;
  }

  private clusterProblem({ cluster }: EtcdRestoreProps): string | undefined {
    if (!isForeign(cluster)) return otherNamespaceProblem(this, cluster);
    return `cluster: '${cluster.clusterName}' is somebody else's etcd; restore it with \`etcd-agent restore\`, as docs/backups/restore.md says`;
  }
}

function restoreSpec(props: EtcdRestoreProps, serviceAccountName: string | undefined): Plain<EtcdRestoreSpec> {
  const { cluster, safetyBackup, ignoreUnreachablePods } = props;
  return {
    clusterName: cluster.clusterName,
    ...originSpec({ ...props, serviceAccountName }),
    safetyBackup,
    ignoreUnreachablePods,
  };
}
