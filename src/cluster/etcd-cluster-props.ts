import type { Size } from 'cdk8s';
import type { ClusterOrigin } from '../backup/cluster-origin';
import type { EtcdVersion } from '../etcd/etcd-version';
import type { ImagePullPolicy } from '../lib/image-pull-policy';
import type { NetworkAccess } from '../lib/network-access';
import type { NetworkEgress } from '../lib/network-egress';
import type { MemberContainers, PodOptions } from '../lib/pods/pod-options';
import type { ObjectOverride } from '../overrides/overrides';
import type { IEtcdReconciler } from '../reconciler/i-etcd-reconciler';
import type { EtcdClusterSpec } from '../resource/types';
import type { EtcdTls } from '../tls/etcd-tls';
import type { INamed } from '../validation/named';
import type { DeletionPolicy, NoSpacePolicy, ReplacePolicy } from './cluster-policies';
import type { EtcdResources } from './etcd-resources';
import type { EtcdSpread } from './etcd-spread';
import type { EtcdVolume } from './etcd-volume';
import type { QuorumRecovery } from './quorum-recovery';
import type { DisruptionBudgetOptions, ExternalServicesOptions, ServiceOptions } from './service-options';
import type { EtcdTuning } from './settings/etcd-tuning';

/** Configures an `EtcdCluster`. */
export interface EtcdClusterProps extends PodOptions {
  /**
   * Names the cluster: at most 50 lower-case letters, digits and `-`. The names of all its objects begin with this
   * name. It must not end in `-peers`, `-jobs`, `-etcd-reconciler`, `-<number>-client` or `-<number>-external`, which are
   * suffixes of a cluster's objects. A different name is a different cluster with its own volumes.
   * @default - the construct's id, of which `OrdersApi` becomes `orders-api`
   */
  readonly name?: string;
  /**
   * Sets the number of voting members, 1 to 7. Of 3 members one may fail, and of 5 members two.
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
   * Selects the version of etcd. Raise the minor version by one at a time. A lower minor version requires a restore.
   * @default - the version in the tag of `image`, else EtcdVersion.V3_6
   */
  readonly version?: EtcdVersion;
  /**
   * Sets the image of etcd. If its tag is a version, such as `v3.6.16`, you do not need `version`. With any other tag
   * or with a digest, give `version` too.
   * @default - `gcr.io/etcd-development/etcd` with the tag of `version`
   */
  readonly image?: string;
  /**
   * Names a registry that mirrors the default images, such as `registry.example.com/mirror`. It replaces `gcr.io` and
   * `ghcr.io`.
   * @default - no mirror
   */
  readonly registry?: string;
  /**
   * Sets the image of the agent, which runs in the pod of each member. It contains an etcd of each minor version, to
   * salvage the data of a survivor, as `ghcr.io/cdk8s-etcd/member` does.
   * @default - the images of this release, of which only the gate's contains an etcd
   */
  readonly agentImage?: string;
  /**
   * Sets when a node pulls the images.
   * @default ImagePullPolicy.IF_NOT_PRESENT
   */
  readonly imagePullPolicy?: ImagePullPolicy;
  /**
   * Names the Secrets with registry credentials.
   * @default - none
   */
  readonly imagePullSecrets?: (string | INamed)[];
  /**
   * Describes the volume in which each member stores its data.
   * @default - a volume of 8 GiB with the default StorageClass
   */
  readonly volume?: EtcdVolume;
  /**
   * Sets the CPU and memory of each member.
   * @default EtcdResources.DEFAULT
   */
  readonly resources?: EtcdResources;
  /**
   * Limits the size of the database: above it, etcd refuses writes (NOSPACE). The volume must hold twice the quota plus
   * 1 GiB.
   * @default - half of the volume's size above 1 GiB, at most 8 GiB
   */
  readonly quota?: Size;
  /**
   * Sets the timeouts, snapshots and compaction of etcd.
   * @default EtcdTuning.LAN
   */
  readonly tuning?: EtcdTuning;
  /**
   * Adds settings of etcd, by the keys of the configuration file of this version, such as
   * `{ 'max-request-bytes': 10485760 }`. Write durations as for etcd's flags, such as `10s`.
   * @default - no further settings
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly settings?: { readonly [key: string]: any };
  /**
   * Selects TLS for clients and between members. It can be switched on and off while the cluster serves, and the
   * certificates can come from another source.
   * @default EtcdTls.managed(): the reconciler issues the certificates
   */
  readonly tls?: EtcdTls;
  /**
   * Decides whether etcd's authentication is on. With it, a client may only do what the user may that its certificate
   * names. It needs a version of etcd that enforces permissions: 3.5.33, 3.6.14, 3.7.1, or a later patch of these.
   * @default - it is switched on with the first user, and then stays on
   */
  readonly auth?: boolean;
  /**
   * Sets the DNS domain of the Kubernetes cluster.
   * @default cluster.local
   */
  readonly clusterDomain?: string;
  /**
   * Sets how the members are spread over zones and nodes.
   * @default - EtcdSpread.DEFAULT: always over nodes, as far as there are enough, and over zones if possible
   */
  readonly spread?: EtcdSpread;
  /**
   * Selects the clients that may connect to the members. The cluster's backups and its reconciler always may.
   * @default NetworkAccess.sameNamespace()
   */
  readonly networkAccess?: NetworkAccess;
  /**
   * Selects the clients that may read the metrics of etcd (port 2381) and of the agent (port 8080).
   * @default NetworkAccess.nobody()
   */
  readonly metricsAccess?: NetworkAccess;
  /**
   * Limits the connections that the members and the cluster's Jobs may open. The members may always reach each other
   * and a restore Job, and the Jobs may always reach the members.
   * @default - all connections
   */
  readonly egress?: NetworkEgress;
  /**
   * Sets what the containers of the members have, such as environment variables.
   * @default - only the library's own
   */
  readonly containers?: MemberContainers;
  /**
   * Adds containers to the pods of members: Kubernetes' `Container`.
   * @default - none
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly sidecars?: { readonly [key: string]: any }[];
  /**
   * Names an existing ServiceAccount for the members. It gets the rights that they need.
   * @default - one is created, with the name of the cluster
   */
  readonly serviceAccountName?: string | INamed;
  /**
   * Adds annotations to the ServiceAccount that is created.
   * @default - none
   */
  readonly serviceAccountAnnotations?: { readonly [name: string]: string };
  /**
   * Configures the Service that leads clients to all ready members.
   * @default - a ClusterIP
   */
  readonly service?: ServiceOptions;
  /**
   * Adds Services for clients outside of Kubernetes, `<cluster>-<ordinal>-external`, one for each member. `networkAccess`
   * must let these clients in, and the certificate of the members must contain the names that they use: `serverNames` of
   * `EtcdTls.managed` and `EtcdTls.certManager`.
   * @default - none
   */
  readonly externalServices?: ExternalServicesOptions;
  /**
   * Configures the PodDisruptionBudget.
   * @default - one that lets a drain take one member at a time
   */
  readonly podDisruptionBudget?: DisruptionBudgetOptions;
  /**
   * Limits how many former revisions of the StatefulSet are kept.
   * @default 10
   */
  readonly revisionHistoryLimit?: number;
  /**
   * Lists changes of objects of the cluster and of its schedules that no other property makes. They are made one after the
   * other. Fields without which the cluster would not work are refused.
   * @default - none
   */
  readonly overrides?: ObjectOverride[];
  /**
   * Selects the reconciler that grows, shrinks, upgrades, repairs and restores this cluster.
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
   * Decides when a member is replaced.
   * @default ReplacePolicy.onVolumeLoss()
   */
  readonly replace?: ReplacePolicy;
  /**
   * Starts this cluster with the data of a backup. It is used only once, when the cluster is created, and cannot be
   * added, changed or removed later, except `resources`, `image` and `serviceAccountName`: leave it in the code. For an
   * existing cluster use `EtcdRestore`.
   * @default - the cluster starts empty
   */
  readonly origin?: ClusterOrigin;
  /**
   * Continues from a surviving member after most members have been lost permanently.
   * @default - the cluster waits for its members
   */
  readonly recovery?: QuorumRecovery;
  /**
   * Decides what happens to the volume of a member that is removed because you lower `size`.
   * @default DeletionPolicy.RETAIN
   */
  readonly onShrink?: DeletionPolicy;
  /**
   * Decides what happens to the volumes when the EtcdCluster is deleted. With `DELETE`, delete the EtcdCluster first
   * and by itself with `kubectl delete etcdcluster NAME`, because the reconciler and its permissions must still exist.
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
   * Keeps every object of the cluster when it leaves the repository that Argo CD or Flux applies. The objects have
   * annotations for both; others ignore them. To delete the cluster, use kubectl, or set this to false first.
   *
   * Backup schedules, users and the reconciler are not kept.
   * @default - true, or false with `volume.ephemeral`
   */
  readonly protect?: boolean;
  /**
   * Names the backup schedule, by its id, whose stores and settings the reconciler uses for its own backups: before an
   * upgrade, before a restore, of a survivor, and for the final backup.
   * @default - the schedule that was added first
   */
  readonly backupSchedule?: string;
  /**
   * Refuses upgrades while the cluster has no backup schedule for the backup that precedes an upgrade.
   * @default false
   */
  readonly requireBackupForUpgrade?: boolean;
  /**
   * Decides what happens when a database has reached its quota.
   * @default NoSpacePolicy.COMPACT_DEFRAG_DISARM
   */
  readonly onNoSpace?: NoSpacePolicy;
  /**
   * The spec of the resource, in the place of the other properties.
   * @internal
   */
  readonly _written?: EtcdClusterSpec;
}
