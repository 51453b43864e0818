import type { Size } from 'cdk8s';
import type { ClusterOrigin } from '../backup/cluster-origin';
import type { EtcdVersion } from '../etcd/etcd-version';
import type { ImagePullPolicy } from '../lib/image-pull-policy';
import type { NetworkAccess } from '../lib/network-access';
import type { Toleration } from '../lib/toleration';
import type { IEtcdReconciler } from '../reconciler/i-etcd-reconciler';
import type { EtcdTls } from '../tls/etcd-tls';
import type { DeletionPolicy } from './deletion-policy';
import type { EtcdResources } from './etcd-resources';
import type { EtcdSpread } from './etcd-spread';
import type { EtcdVolume } from './etcd-volume';
import type { NoSpacePolicy } from './no-space-policy';
import type { QuorumRecovery } from './quorum-recovery';
import type { ReplacePolicy } from './replace-policy';
import type { EtcdTuning } from './settings/etcd-tuning';

/** Properties of `EtcdCluster`. */
export interface EtcdClusterProps {
  /**
   * The cluster's name, and the beginning of the name of each of its objects: at most 50 lower-case letters, digits and
   * `-`, not ending in `-peers`, `-jobs`, `-etcd-reconciler` or `-<number>-client`, as objects of clusters do. Another name
   * is another cluster, with volumes of its own.
   * @default - the construct's id
   */
  readonly name?: string;
  /**
   * How many voting members there are, 1 to 7. Of 3 members 1 may fail, of 5 members 2.
   * @default 3
   */
  readonly size?: number;
  /**
   * Allows an even `size`. It survives no more failures than the odd size below it, and needs one more member for each
   * write: sensible only on the way to another size.
   * @default false
   */
  readonly allowEvenSize?: boolean;
  /**
   * Which etcd to run. One step up of the minor version at a time; a step down needs a restore.
   * @default - the version in the tag of `image`, else EtcdVersion.V3_6
   */
  readonly version?: EtcdVersion;
  /**
   * The image of etcd. A tag that is a version, such as `v3.6.16`, is enough; with another tag or a digest give `version`
   * too.
   * @default - `gcr.io/etcd-development/etcd` with the tag of `version`
   */
  readonly image?: string;
  /**
   * A registry that mirrors both default images, such as `registry.example.com/mirror`. It takes the place of `gcr.io` and
   * of `ghcr.io`.
   * @default - none
   */
  readonly registry?: string;
  /**
   * The image of the agent, which looks after each member.
   * @default - the one of this release
   */
  readonly agentImage?: string;
  /**
   * When a node pulls the images.
   * @default ImagePullPolicy.IF_NOT_PRESENT
   */
  readonly imagePullPolicy?: ImagePullPolicy;
  /**
   * Names of Secrets with registry credentials.
   * @default - none
   */
  readonly imagePullSecrets?: string[];
  /**
   * Where each member keeps its data.
   * @default - a volume of 8 GiB of the default storage class
   */
  readonly volume?: EtcdVolume;
  /**
   * CPU and memory of each member.
   * @default EtcdResources.DEFAULT
   */
  readonly resources?: EtcdResources;
  /**
   * How large the database may grow before etcd refuses writes (NOSPACE). The volume must hold twice as much and 1 GiB.
   * @default - half of what the volume has above 1 GiB, at most 8 GiB
   */
  readonly quota?: Size;
  /**
   * Time-outs, snapshots and compaction.
   * @default EtcdTuning.LAN
   */
  readonly tuning?: EtcdTuning;
  /**
   * More of etcd's configuration, by the keys of its configuration file for this version, such as
   * `{ 'max-request-bytes': 10485760 }`. Durations are written as etcd's flags take them: `10s`.
   * @default - none
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly settings?: { readonly [key: string]: any };
  /**
   * TLS for clients and between the members. It cannot be switched later: a cluster with TLS is then made anew, from a
   * backup.
   * @default EtcdTls.disabled()
   */
  readonly tls?: EtcdTls;
  /**
   * The DNS domain of the Kubernetes cluster.
   * @default cluster.local
   */
  readonly clusterDomain?: string;
  /**
   * How the members are spread over zones and nodes.
   * @default - over nodes always where there are enough of them, over zones when possible
   */
  readonly spread?: EtcdSpread;
  /**
   * Who may reach the members. Its backups and its reconciler always may.
   * @default NetworkAccess.sameNamespace()
   */
  readonly networkAccess?: NetworkAccess;
  /**
   * Who may scrape etcd's metrics, port 2381, and the agent's, port 8080.
   * @default - nobody
   */
  readonly metricsAccess?: NetworkAccess;
  /**
   * The pods' PriorityClass.
   * @default - the cluster's default
   */
  readonly priorityClassName?: string;
  /**
   * Labels of the nodes where members may run.
   * @default - any node
   */
  readonly nodeSelector?: { readonly [name: string]: string };
  /**
   * Taints of the nodes where members may run.
   * @default - none
   */
  readonly tolerations?: Toleration[];
  /**
   * Labels of every object and of the pods, beside the standard ones.
   * @default - `app.kubernetes.io/…` alone
   */
  readonly labels?: { readonly [name: string]: string };
  /**
   * Annotations of the pods.
   * @default - none but our own
   */
  readonly podAnnotations?: { readonly [name: string]: string };
  /**
   * Who grows, shrinks, upgrades, repairs and restores this cluster.
   * @default - the reconciler of the namespace; one is added when the app has none, with the image, pull policy and pull
   * secrets of the first cluster
   */
  readonly reconciler?: IEtcdReconciler;
  /**
   * The reconciler only watches and reports.
   * @default false
   */
  readonly paused?: boolean;
  /**
   * When a member is replaced.
   * @default ReplacePolicy.onVolumeLoss()
   */
  readonly replace?: ReplacePolicy;
  /**
   * Begins this cluster with the data of a backup. It counts only once, when the cluster is made, and can be neither
   * added, changed nor removed later: leave it in the code. For a cluster that exists use `EtcdRestore`.
   * @default - an empty cluster
   */
  readonly origin?: ClusterOrigin;
  /**
   * Allows to go on from a surviving member after most members were lost for good.
   * @default - the cluster waits for its members
   */
  readonly recovery?: QuorumRecovery;
  /**
   * What becomes of a member's volume when `size` is lowered.
   * @default DeletionPolicy.RETAIN
   */
  readonly onShrink?: DeletionPolicy;
  /**
   * What becomes of the volumes when the EtcdCluster is deleted. With `DELETE`, delete it first and alone,
   * `kubectl delete etcdcluster NAME`: the reconciler and its rights must still be there.
   * @default DeletionPolicy.RETAIN
   */
  readonly onDelete?: DeletionPolicy;
  /**
   * Whether a deletion waits for one more backup. Needs a backup schedule, and the reconciler: delete the EtcdCluster
   * first and alone.
   * @default - true with `onDelete: DeletionPolicy.DELETE`, else false
   */
  readonly finalBackup?: boolean;
  /**
   * The id of the backup schedule whose store and settings the reconciler's own backups have: those before an upgrade or
   * a restore, and a final one.
   * @default - the schedule that was added first
   */
  readonly backupSchedule?: string;
  /**
   * Whether an upgrade is refused while there is no backup schedule to take a backup with before.
   * @default false
   */
  readonly requireBackupForUpgrade?: boolean;
  /**
   * What happens when the database reached its quota.
   * @default NoSpacePolicy.COMPACT_DEFRAG_DISARM
   */
  readonly onNoSpace?: NoSpacePolicy;
}
