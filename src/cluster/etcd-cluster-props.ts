import type { Size } from 'cdk8s';
import type { ClusterOrigin } from '../backup/cluster-origin';
import type { EtcdVersion } from '../etcd/etcd-version';
import type { ImagePullPolicy } from '../lib/image-pull-policy';
import type { NetworkAccess } from '../lib/network-access';
import type { NetworkEgress } from '../lib/network-egress';
import type { Toleration } from '../lib/toleration';
import type { IEtcdReconciler } from '../reconciler/i-etcd-reconciler';
import type { EtcdTls } from '../tls/etcd-tls';
import type { DeletionPolicy, NoSpacePolicy, ReplacePolicy } from './cluster-policies';
import type { EtcdResources } from './etcd-resources';
import type { EtcdSpread } from './etcd-spread';
import type { EtcdVolume } from './etcd-volume';
import type { QuorumRecovery } from './quorum-recovery';
import type { EtcdTuning } from './settings/etcd-tuning';

/** Properties of `EtcdCluster`. */
export interface EtcdClusterProps {
  /**
   * Name of the cluster, with which the names of all its objects begin: at most 50 lower-case letters, digits and `-`.
   * It must not end in `-peers`, `-jobs`, `-etcd-reconciler` or `-<number>-client`, which are suffixes of a cluster's
   * objects. A different name is a different cluster with its own volumes.
   * @default - the construct's id
   */
  readonly name?: string;
  /**
   * Number of voting members, 1 to 7. Of 3 members one may fail, of 5 members two.
   * @default 3
   */
  readonly size?: number;
  /**
   * Allows an even `size`. An even size survives no more failures than the odd size below it, and each write needs one
   * more member. Use it only on the way to another size.
   * @default false
   */
  readonly allowEvenSize?: boolean;
  /**
   * Version of etcd. Raise the minor version by one at a time. A lower minor version requires a restore.
   * @default - the version in the tag of `image`, else EtcdVersion.V3_6
   */
  readonly version?: EtcdVersion;
  /**
   * Image of etcd. If its tag is a version, such as `v3.6.16`, you do not need `version`. With any other tag or with a
   * digest, give `version` too.
   * @default - `gcr.io/etcd-development/etcd` with the tag of `version`
   */
  readonly image?: string;
  /**
   * Registry that mirrors both default images, such as `registry.example.com/mirror`. It replaces `gcr.io` and
   * `ghcr.io`.
   * @default - no mirror
   */
  readonly registry?: string;
  /**
   * Image of the agent, which runs in the pod of each member.
   * @default - the image of this release
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
   * Volume in which each member stores its data.
   * @default - a volume of 8 GiB with the default StorageClass
   */
  readonly volume?: EtcdVolume;
  /**
   * CPU and memory of each member.
   * @default EtcdResources.DEFAULT
   */
  readonly resources?: EtcdResources;
  /**
   * Size of the database above which etcd refuses writes (NOSPACE). The volume must hold twice the quota plus 1 GiB.
   * @default - half of the volume's size above 1 GiB, at most 8 GiB
   */
  readonly quota?: Size;
  /**
   * Timeouts, snapshots and compaction of etcd.
   * @default EtcdTuning.LAN
   */
  readonly tuning?: EtcdTuning;
  /**
   * Further settings of etcd, by the keys of the configuration file of this version, such as
   * `{ 'max-request-bytes': 10485760 }`. Write durations as for etcd's flags, such as `10s`.
   * @default - no further settings
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly settings?: { readonly [key: string]: any };
  /**
   * TLS for clients and between members. It cannot be switched on or off later: create a new cluster from a backup
   * instead.
   * @default EtcdTls.managed(): the reconciler issues the certificates
   */
  readonly tls?: EtcdTls;
  /**
   * DNS domain of the Kubernetes cluster.
   * @default cluster.local
   */
  readonly clusterDomain?: string;
  /**
   * How the members are spread over zones and nodes.
   * @default - EtcdSpread.DEFAULT: always over nodes, as far as there are enough, and over zones if possible
   */
  readonly spread?: EtcdSpread;
  /**
   * Which clients may connect to the members. The cluster's backups and its reconciler always may.
   * @default NetworkAccess.sameNamespace()
   */
  readonly networkAccess?: NetworkAccess;
  /**
   * Which clients may read the metrics of etcd (port 2381) and of the agent (port 8080).
   * @default NetworkAccess.nobody()
   */
  readonly metricsAccess?: NetworkAccess;
  /**
   * Which connections the members and the cluster's Jobs may open. The members may always reach each other and a
   * restore Job, and the Jobs may always reach the members.
   * @default - all connections
   */
  readonly egress?: NetworkEgress;
  /**
   * Name of the pods' PriorityClass.
   * @default - the default of the Kubernetes cluster
   */
  readonly priorityClassName?: string;
  /**
   * Labels that a node must have to run a member.
   * @default - any node
   */
  readonly nodeSelector?: { readonly [name: string]: string };
  /**
   * Taints that the members' pods tolerate.
   * @default - none
   */
  readonly tolerations?: Toleration[];
  /**
   * Additional labels of every object and of the pods.
   * @default - only the standard labels, `app.kubernetes.io/…`
   */
  readonly labels?: { readonly [name: string]: string };
  /**
   * Additional annotations of the pods.
   * @default - only the library's own annotations
   */
  readonly podAnnotations?: { readonly [name: string]: string };
  /**
   * Reconciler that grows, shrinks, upgrades, repairs and restores this cluster.
   * @default - the reconciler of the namespace. If the app has none, one is added with the image, pull policy, pull
   * secrets and `egress` of the first cluster.
   */
  readonly reconciler?: IEtcdReconciler;
  /**
   * Pauses the reconciler for this cluster: it then only observes and reports.
   * @default false
   */
  readonly paused?: boolean;
  /**
   * When a member is replaced.
   * @default ReplacePolicy.onVolumeLoss()
   */
  readonly replace?: ReplacePolicy;
  /**
   * Starts this cluster with the data of a backup. It is used only once, when the cluster is created, and cannot be
   * added, changed or removed later: leave it in the code. For an existing cluster use `EtcdRestore`.
   * @default - the cluster starts empty
   */
  readonly origin?: ClusterOrigin;
  /**
   * Continues from a surviving member after most members have been lost permanently.
   * @default - the cluster waits for its members
   */
  readonly recovery?: QuorumRecovery;
  /**
   * Policy for the volume of a member that is removed because you lower `size`.
   * @default DeletionPolicy.RETAIN
   */
  readonly onShrink?: DeletionPolicy;
  /**
   * Policy for the volumes when the EtcdCluster is deleted. With `DELETE`, delete the EtcdCluster first and by itself
   * with `kubectl delete etcdcluster NAME`, because the reconciler and its permissions must still exist.
   * @default DeletionPolicy.RETAIN
   */
  readonly onDelete?: DeletionPolicy;
  /**
   * Lets a deletion wait for a final backup. This requires a backup schedule and the reconciler: delete the EtcdCluster
   * first and by itself.
   * @default - true with `onDelete: DeletionPolicy.DELETE`, else false
   */
  readonly finalBackup?: boolean;
  /**
   * Id of the backup schedule whose stores and settings the reconciler uses for its own backups: before an upgrade,
   * before a restore, of a survivor, and for the final backup.
   * @default - the schedule that was added first
   */
  readonly backupSchedule?: string;
  /**
   * Refuses upgrades while the cluster has no backup schedule for the backup that precedes an upgrade.
   * @default false
   */
  readonly requireBackupForUpgrade?: boolean;
  /**
   * Policy for a database that has reached its quota.
   * @default NoSpacePolicy.COMPACT_DEFRAG_DISARM
   */
  readonly onNoSpace?: NoSpacePolicy;
}
