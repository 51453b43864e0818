import { ApiObject, Lazy } from 'cdk8s';
import { Construct } from 'constructs';
import type { BackupScheduleOptions } from '../backup/backup-schedule-options';
import { originSpec } from '../backup/cluster-origin';
import { type BackupScheduleSpec, EtcdBackupSchedule } from '../backup/etcd-backup-schedule';
import type { IEtcdCluster } from '../backup/i-etcd-cluster';
import { ports } from '../etcd/cluster-ports';
import type { EtcdVersion } from '../etcd/etcd-version';
import { agentImage } from '../lib/agent-image';
import { isAttached } from '../lib/attached';
import { Kept } from '../lib/kept';
import { EtcdClientTls } from '../tls/etcd-client-tls';
import { freeId, placed } from '../validation/construct-id';
import { requireKinds } from '../validation/kinds';
import { clusterKinds, endpointsKinds, scheduleOptionsKinds } from '../validation/property-kinds';
import { type ClusterModel, clientEndpoints, clusterModel } from './cluster-model';
import { clusterProblems } from './cluster-problems';
import { ClusterReconciler } from './cluster-reconciler';
import { clusterResource, scheduleCountProblems } from './cluster-resource';
import type { EtcdClusterAttributes, EtcdEndpointsOptions } from './etcd-cluster-attributes';
import type { EtcdClusterProps } from './etcd-cluster-props';
import { ForeignEtcdCluster, ImportedEtcdCluster } from './external-etcd-cluster';
import { jobSelector } from './manifests/cluster-labels';
import { type ClusterManifest, clusterManifests, memberServices } from './manifests/cluster-manifests';
import { recoveryIdentityProblems } from './quorum-recovery';
import { TakenNames } from './taken-names';

/**
 * An etcd cluster: its members, and all that they need but the CRDs (`EtcdCrds`).
 *
 * A change of what is in the pods, such as `version`, `resources`, `settings` or `labels`, replaces them one after the
 * other: the reconciler goes on when a member is back and healthy, with the leader last.
 *
 * What no property changes can be changed in the objects themselves, such as
 * `cluster.statefulSet.addJsonPatch(JsonPatch.add('/spec/template/spec/hostAliases', …))`.
 */
export class EtcdCluster extends Construct implements IEtcdCluster {
  /** Somebody else's etcd, wherever it runs: to connect to it and to back it up. */
  static fromEndpoints(
    scope: Construct,
    id: string,
    endpoints: string[],
    options: EtcdEndpointsOptions = {},
  ): IEtcdCluster {
    requireKinds(placed(scope, id), options, endpointsKinds);
    return new ForeignEtcdCluster(scope, id, endpoints, options);
  }

  /** An `EtcdCluster` that another app makes, in the same namespace. */
  static fromAttributes(scope: Construct, id: string, attributes: EtcdClusterAttributes): IEtcdCluster {
    return new ImportedEtcdCluster(scope, id, attributes);
  }

  /** The cluster's name. */
  readonly clusterName: string;
  /** How many members there should be. */
  readonly size: number;
  /** Which etcd it runs. */
  readonly version: EtcdVersion;
  /**
   * The client URL of each member, whose name leads to it while it is ready. Clients do best with all of them: the Service
   * keeps a dead node for a while.
   */
  readonly clientEndpoints: string[];
  /** The port for clients. */
  readonly clientPort: number = ports.client;
  /** The Secret with a client certificate (`ca.crt`, `tls.crt`, `tls.key`); none without TLS. */
  readonly clientTlsSecretName?: string;
  /** How clients trust it and are trusted by it; none without TLS. */
  readonly clientTls?: EtcdClientTls;
  /** The name of the members' ServiceAccount. */
  readonly serviceAccountName: string;

  /** The members' ServiceAccount. */
  readonly serviceAccount: ApiObject;
  /** What the members may do in Kubernetes. */
  readonly role: ApiObject;
  /** Gives `role` to the members. */
  readonly roleBinding: ApiObject;
  /** What the reconciler may do with this cluster. */
  readonly reconcilerRole: ApiObject;
  /** Gives `reconcilerRole` to the reconciler. */
  readonly reconcilerRoleBinding: ApiObject;
  /** The ConfigMap of etcd's settings. */
  readonly settings: ApiObject;
  /** The Service by which the members find each other, ready or not. */
  readonly peerService: ApiObject;
  /** The Service of the ready members, for clients. */
  readonly clientService: ApiObject;
  /** The Service of each member there may ever be, for clients. */
  readonly memberServices: ApiObject[];
  /** Who may connect to the members. */
  readonly networkPolicy: ApiObject;
  /** Who may connect to the cluster's Jobs. */
  readonly jobNetworkPolicy: ApiObject;
  /** How many members a drain may take away. */
  readonly podDisruptionBudget: ApiObject;
  /** cert-manager's Certificates of the peers, the server and the client; none with other TLS or without. */
  readonly certificates: ApiObject[];
  /** The members. */
  readonly statefulSet: ApiObject;
  /** The custom resource, which the reconciler acts upon. */
  readonly customResource: ApiObject;

  private readonly props: EtcdClusterProps;
  private readonly model: ClusterModel;
  private readonly reconciler: ClusterReconciler;
  private readonly schedules: EtcdBackupSchedule[] = [];
  private readonly names = new TakenNames(this);
  private readonly propertyProblems = new Kept<readonly string[]>();

  constructor(scope: Construct, id: string, props: EtcdClusterProps = {}) {
    super(scope, freeId(scope, id));
    requireKinds(this, props, clusterKinds);
    const model = clusterModel(this, props);
    const { name, names } = model;
    this.props = props;
    this.model = model;
    this.clusterName = name;
    this.size = model.size;
    this.version = model.images.version;
    this.clientEndpoints = clientEndpoints(model);
    this.clientTlsSecretName = model.tls.clientSecret;
    this.clientTls =
      this.clientTlsSecretName === undefined ? undefined : EtcdClientTls.fromSecret(this.clientTlsSecretName);
    this.serviceAccountName = name;

    const manifests = clusterManifests(model, props, {
      // Another chart of the app may bring the reconciler later, and schedules are added until synthesis.
      reconcilerAccount: Lazy.any({ produce: () => this.reconciler.get().serviceAccountName }),
      resourceSpec: Lazy.any({ produce: () => this.resourceSpec() }),
    });
    const object = (id: keyof typeof manifests) => this.object(id, manifests[id]);
    this.serviceAccount = object('ServiceAccount');
    this.role = object('Role');
    this.roleBinding = object('RoleBinding');
    this.reconcilerRole = object('ReconcilerRole');
    this.reconcilerRoleBinding = object('ReconcilerRoleBinding');
    this.settings = object('Settings');
    this.peerService = object('PeerService');
    this.clientService = object('ClientService');
    this.memberServices = memberServices(model).map((service, ordinal) =>
      this.object(`MemberService${ordinal}`, service),
    );
    this.networkPolicy = object('NetworkPolicy');
    this.jobNetworkPolicy = object('JobNetworkPolicy');
    this.podDisruptionBudget = object('PodDisruptionBudget');
    this.certificates = model.tls.certificates.map(({ apiVersion, kind, metadata, spec }, index) =>
      this.object(`${certificates[index]}Certificate`, { apiVersion, kind, name: metadata.name, content: { spec } }),
    );
    this.statefulSet = object('StatefulSet');
    this.customResource = object('EtcdCluster');
    this.names.take('ConfigMap', names.record);
    this.reconciler = new ClusterReconciler(this, name, props.reconciler, this.agentImageProps());
    this.node.addValidation({ validate: () => this.problems() });
  }

  /**
   * Backs the cluster up on a schedule. The first one's settings are also those of the backups that the reconciler takes
   * before an upgrade, unless `backupSchedule` names another.
   *
   * The labels `app.kubernetes.io/name` and `app.kubernetes.io/part-of` are the schedule's own, as the NetworkPolicy finds
   * its pods by them.
   *
   * @param id the schedule's name; its CronJob is `<cluster>-<id>`
   */
  addBackupSchedule(id: string, options: BackupScheduleOptions): EtcdBackupSchedule {
    requireKinds(placed(this, id), options, scheduleOptionsKinds);
    const { image, imagePullPolicy, imagePullSecrets } = this.agentImageProps();
    // A mirror has the agent's own image, which is not enough for each store: the schedule then asks for another.
    const isEnough = this.props.agentImage !== undefined || !options.store._definition().needsOwnImage;
    const schedule = new EtcdBackupSchedule(this, id, {
      ...options,
      image: options.image ?? (isEnough ? image : undefined),
      imagePullPolicy: options.imagePullPolicy ?? imagePullPolicy,
      imagePullSecrets: options.imagePullSecrets ?? imagePullSecrets,
      cluster: this.clusterName,
      endpoints: this.clientEndpoints,
      tls: this.clientTls,
      labels: { ...this.props.labels, ...options.labels, ...jobSelector(this.clusterName) },
    });
    this.schedules.push(schedule);
    return schedule;
  }

  /** How the agent is pulled, wherever it runs for this cluster. */
  private agentImageProps() {
    const { imagePullPolicy, imagePullSecrets } = this.props;
    const { agent } = this.model.images;
    return { image: agent === agentImage ? undefined : agent, imagePullPolicy, imagePullSecrets };
  }

  private object(id: string, { apiVersion, kind, name, content }: ClusterManifest): ApiObject {
    this.names.take(kind, name);
    return new ApiObject(this, id, { apiVersion, kind, metadata: { name, labels: this.model.labels }, ...content });
  }

  private resourceSpec(): object {
    const { model, props } = this;
    const schedules = this.scheduleSpecs();
    return clusterResource({
      ...props,
      size: model.size,
      version: model.images.version.version,
      clientTlsSecret: model.tls.clientSecret,
      replace: props.replace?._spec(),
      origin: props.origin && originSpec(props.origin),
      volumeSize: model.volumeSize,
      ephemeral: model.ephemeral,
      finalBackup: model.finalBackup,
      schedules,
      backupSchedule: this.backupSchedule(schedules)?.name,
    });
  }

  private scheduleSpecs(): BackupScheduleSpec[] {
    return this.schedules.filter(isAttached).map((schedule) => schedule._spec());
  }

  /** Whose settings the reconciler's own backups have. */
  private backupSchedule(schedules: readonly BackupScheduleSpec[]): BackupScheduleSpec | undefined {
    const { backupSchedule = schedules[0]?.name } = this.props;
    return schedules.find(({ name }) => name === backupSchedule);
  }

  private recoveryProblems(): string[] {
    const { recovery } = this.props;
    return recovery ? recoveryIdentityProblems(recovery, this.backupSchedule(this.scheduleSpecs())) : [];
  }

  private problems(): string[] {
    return [
      ...this.problemsOfProperties(),
      ...this.recoveryProblems(),
      ...scheduleCountProblems(this.schedules.filter(isAttached).length),
      ...this.reconciler.problems(this.model.labels),
      ...this.names.problems(),
    ];
  }

  private problemsOfProperties(): readonly string[] {
    const { clusterName, props, model } = this;
    const schedules = this.schedules.filter(isAttached).map(({ node }) => node.id);
    const find = () => clusterProblems(clusterName, props, { namespace: model.namespace, schedules });
    return this.propertyProblems.get(schedules.join(), find);
  }
}

const certificates = ['Peer', 'Server', 'Client'];
