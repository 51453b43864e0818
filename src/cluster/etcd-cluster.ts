import { ApiObject, Chart, Lazy } from 'cdk8s';
import { Construct } from 'constructs';
import { EtcdBackupSchedule } from '../backup/etcd-backup-schedule';
import type { BackupScheduleOptions } from '../backup/etcd-backup-schedule-props';
import { isMisnamed } from '../backup/etcd-cluster-checks';
import type { IEtcdCluster } from '../backup/i-etcd-cluster';
import { jobPropNames } from '../backup/job-identity';
import type { ClientAccess } from '../clients/client-access';
import { EtcdClient } from '../clients/etcd-client';
import type { EtcdClientOptions } from '../clients/etcd-client-props';
import { adviceOn, advisoriesAsOf, advisoriesForCluster } from '../etcd/advisories';
import { ports } from '../etcd/cluster-ports';
import type { EtcdVersion } from '../etcd/etcd-version';
import { cronJobOf } from '../etcd/schedule-names';
import { folderIn, isAttached } from '../lib/construct-tree';
import type { Manifest } from '../lib/manifest';
import { namesakeProblems, reserveName, takeName } from '../lib/name-registry';
import { requireProtectedNamespace } from '../lib/namespace-protection';
import { admitsNamespace } from '../lib/network-access';
import type { NetworkEgress } from '../lib/network-egress';
import { tellIfUnreleased, tellOnce } from '../lib/notices';
import type { MonitoringOptions } from '../monitoring/monitoring-options';
import type { EtcdReconcilerProps } from '../reconciler/etcd-reconciler-props';
import { below, emittedProblems, type PropNames, propProblems, withFound } from '../resource/prop-problems';
import { laterProblems } from '../resource/resource-problems';
import type { BackupScheduleSpec, ClusterMonitoringSpec } from '../resource/types';
import type { EtcdClientTls } from '../tls/etcd-client-tls';
import { tlsPropNames } from '../tls/etcd-tls';
import { EtcdUser } from '../users/etcd-user';
import type { EtcdUserOptions } from '../users/etcd-user-props';
import type { UserAccess } from '../users/user-access';
import { futureConstruct, requireFreeId } from '../validation/construct-id';
import { derivedName } from '../validation/derived-name';
import { Memo } from '../validation/memo';
import * as types from '../validation/property-types';
import { requireTypes } from '../validation/type-checks';
import { clusterProblems } from './cluster-problems';
import { ClusterReconciler } from './cluster-reconciler';
import { completeSpec, readCluster, writeCluster } from './cluster-spec';
import type { EtcdClusterProps } from './etcd-cluster-props';
import {
  type EtcdClusterAttributes,
  type EtcdEndpointsOptions,
  ExistingEtcdCluster,
  ImportedEtcdCluster,
} from './external-etcd-cluster';
import { clusterLabels, memberSelector } from './manifests/cluster-labels';
import { finishedProblems, manifestsOf } from './manifests/cluster-manifests';
import { monitoredCluster } from './manifests/cluster-monitoring';
import { backupTls, clientTls, withPull } from './manifests/cluster-schedules';
import { madeFrom } from './manifests/made-from';
import { membersAsPeer, openOnlyForClients } from './members-as-peer';
import { EtcdMonitoring } from './monitoring/etcd-monitoring';
import type { EtcdMonitoringProps } from './monitoring/etcd-monitoring-props';
import type { MonitoredCluster } from './monitoring/monitored-cluster';
import {
  agentPull,
  backupEndpoints,
  clientEndpoints,
  clientSecret,
  type ResolvedCluster,
  resolveCluster,
} from './resolved-cluster';
import type { WrittenCluster } from './written-cluster';

/**
 * Renders an etcd cluster with all objects that its members need, except for the CRDs (`EtcdCrds`).
 *
 * A change of the pods, for example of `version`, `resources`, `settings` or `labels`, replaces the pods one by one:
 * the reconciler continues when the replaced member is healthy again, and replaces the leader last.
 *
 * If no property sets what you need, use `overrides`. They are part of the resource, and reach the Jobs of the reconciler.
 */
export class EtcdCluster extends Construct implements IEtcdCluster {
  /**
   * Refers to an existing etcd cluster, wherever it runs: you can connect to it and back it up.
   *
   * @param scope The chart, or a construct inside of one.
   * @param id An id that is unique within `scope`. By default, the cluster is named after it.
   * @param endpoints The client URLs of its members.
   * @param options How to connect to it.
   */
  static fromEndpoints(
    scope: Construct,
    id: string,
    endpoints: string[],
    options: EtcdEndpointsOptions = {},
  ): IEtcdCluster {
    requireTypes(futureConstruct(scope, id), options, types.EtcdEndpointsOptions);
    return new ExistingEtcdCluster(scope, id, endpoints, options);
  }

  /**
   * Refers to an `EtcdCluster` that another app creates in the same namespace.
   *
   * @param scope The chart, or a construct inside of one.
   * @param id An id that is unique within `scope`.
   * @param attributes What that app says of the cluster.
   */
  static fromAttributes(scope: Construct, id: string, attributes: EtcdClusterAttributes): IEtcdCluster {
    return new ImportedEtcdCluster(scope, id, attributes);
  }

  /** Names the cluster. */
  readonly clusterName: string;
  /** Holds the desired number of members. */
  readonly size: number;
  /** Holds the version of etcd. */
  readonly version: EtcdVersion;
  /**
   * Lists the client URL of each member. Its host name resolves while the member is ready. Give clients all URLs: a
   * Service still leads to a failed node for a while.
   */
  readonly clientEndpoints: string[];
  /** Holds the TCP port for clients. */
  readonly clientPort: number = ports.client;
  /**
   * Names the Secret with a client certificate (`ca.crt`, `tls.crt`, `tls.key`). It is undefined without TLS, also while
   * TLS is switched off.
   */
  readonly clientTlsSecretName?: string;
  /**
   * Names the Secret whose key `client-ca.crt` holds the authorities of both sources of certificates, for clients that
   * connect while `alsoTrust` of the TLS is given. It is undefined otherwise.
   */
  readonly clientTrustSecretName?: string;
  /** Gives clients their TLS settings. They are undefined without TLS, also while TLS is switched off. */
  readonly clientTls?: EtcdClientTls;
  /**
   * Lists the URL of each member for backups. Without a certificate for backups, these are the URLs for clients.
   */
  readonly backupEndpoints: string[];
  /** Gives backups their TLS settings. They are undefined without TLS. */
  readonly backupTls?: EtcdClientTls;
  /** Names the members' ServiceAccount. */
  readonly serviceAccountName: string;

  /** The members run as this ServiceAccount. It is undefined if `serviceAccountName` names an existing one. */
  readonly serviceAccount?: ApiObject;
  /** This Role holds the Kubernetes permissions of the members. */
  readonly role: ApiObject;
  /** This RoleBinding grants `role` to the members. */
  readonly roleBinding: ApiObject;
  /** This Role holds the reconciler's permissions for this cluster. */
  readonly reconcilerRole: ApiObject;
  /** This RoleBinding grants `reconcilerRole` to the reconciler. */
  readonly reconcilerRoleBinding: ApiObject;
  /** This ConfigMap holds the settings of etcd. */
  readonly settings: ApiObject;
  /** This Service lets the members find each other, whether they are ready or not. */
  readonly peerService: ApiObject;
  /** This Service leads clients to all ready members. */
  readonly clientService: ApiObject;
  /** Lists the Services for clients, one for each possible member. */
  readonly memberServices: ApiObject[];
  /** Lists the Services for clients outside of Kubernetes. The list is empty without `externalServices`. */
  readonly externalServices: ApiObject[];
  /** This NetworkPolicy limits the connections of the members. */
  readonly networkPolicy: ApiObject;
  /** This NetworkPolicy limits the connections of the cluster's Jobs. */
  readonly jobNetworkPolicy: ApiObject;
  /**
   * This PodDisruptionBudget limits how many members a drain may evict at a time. It is undefined with `enabled: false`.
   */
  readonly podDisruptionBudget?: ApiObject;
  /**
   * Lists the cert-manager Certificates of the peers, the server, the client, root and the backups. The list is empty
   * with other TLS or without TLS.
   */
  readonly certificates: ApiObject[];
  /**
   * Lists the Secrets of the two authorities and of the certificates of the peers, the server, the client, root and the
   * backups, without data: the reconciler writes it. While `alsoTrust` is given, the list ends with the Secret of the
   * authorities of both sources. The list is empty with other TLS or without TLS.
   */
  readonly tlsSecrets: ApiObject[];
  /** This StatefulSet runs the members. */
  readonly statefulSet: ApiObject;
  /** This custom resource describes the cluster to the reconciler. */
  readonly customResource: ApiObject;

  private readonly cluster: ResolvedCluster;
  private readonly written: WrittenCluster;
  private readonly ownReconciler: ClusterReconciler;
  private readonly schedules: EtcdBackupSchedule[] = [];
  private monitoring?: EtcdMonitoring;
  private readonly names = new ClusterObjectNames(this);
  private readonly propertyProblems = new Memo<readonly string[]>();

  /**
   * Creates the cluster's objects.
   *
   * @param scope The chart, or a construct inside of one.
   * @param id An id that is unique within `scope`. By default, the cluster is named after it.
   * @param props The properties that differ from the defaults.
   */
  constructor(scope: Construct, id: string, props: EtcdClusterProps = {}) {
    super(scope, requireFreeId(scope, id));
    requireTypes(this, props, types.EtcdClusterProps);
    const name = props.name ?? derivedName(id);
    const { namespace } = Chart.of(this);
    this.written = props._written ? readCluster(props._written) : writeCluster(props, name, namespace);
    const { spec } = this.written;
    // Lazy: another chart may create the reconciler later, and schedules may be added until synthesis.
    const serviceAccountName = Lazy.any({ produce: () => this.reconcilerAccount() }) as string;
    const resource = {
      metadata: { name, namespace },
      spec: {
        ...spec,
        backup: spec.backup && { ...spec.backup, schedules: undefined },
        monitoring: undefined,
        reconciler: { serviceAccountName },
      },
      madeFrom: Lazy.any({ produce: () => madeFrom(this.customResource.toJson().spec) }) as string,
    };
    const cluster = resolveCluster(resource);
    const { tls } = cluster;
    this.cluster = cluster;
    this.clusterName = name;
    this.size = cluster.size;
    this.version = props.version ?? cluster.images.version;
    this.clientEndpoints = clientEndpoints(cluster);
    const client = clientSecret(cluster);
    this.clientTlsSecretName = client;
    this.clientTrustSecretName = client === undefined ? undefined : tls.trust?.secret;
    this.clientTls = clientTls(cluster);
    this.backupEndpoints = backupEndpoints(cluster);
    this.backupTls = backupTls(cluster);
    this.serviceAccountName = cluster.serviceAccountName;

    const objects = new Map(
      [...manifestsOf(resource, cluster)].map(([id, manifest]) => [id, this.object(id, manifest)]),
    );
    const all = (ending: string) => [...objects].flatMap(([id, object]) => (id.endsWith(ending) ? [object] : []));
    this.serviceAccount = objects.get('ServiceAccount');
    this.role = objects.get('Role')!;
    this.roleBinding = objects.get('RoleBinding')!;
    this.reconcilerRole = objects.get('ReconcilerRole')!;
    this.reconcilerRoleBinding = objects.get('ReconcilerRoleBinding')!;
    this.settings = objects.get('Settings')!;
    this.peerService = objects.get('PeerService')!;
    this.clientService = objects.get('ClientService')!;
    this.memberServices = cluster.names.pods.map((_, ordinal) => objects.get(`MemberService${ordinal}`)!);
    this.externalServices = cluster.names.pods.flatMap((_, ordinal) => objects.get(`ExternalService${ordinal}`) ?? []);
    this.networkPolicy = objects.get('NetworkPolicy')!;
    this.jobNetworkPolicy = objects.get('JobNetworkPolicy')!;
    this.podDisruptionBudget = objects.get('PodDisruptionBudget');
    this.certificates = all('Certificate');
    this.tlsSecrets = all('Secret');
    this.statefulSet = objects.get('StatefulSet')!;
    this.customResource = objects.get('EtcdCluster')!;
    this.node.defaultChild = this.customResource;
    // The reconciler creates the record at run time.
    this.names.take('ConfigMap', cluster.names.record);
    reserveName(this, 'ConfigMap', cluster.names.record, 'the reconciler');
    for (const job of cluster.names.jobs) reserveName(this, 'Job', job, 'the reconciler');
    for (const { name } of this.certificates) reserveName(this, 'Secret', name, 'cert-manager');
    this.ownReconciler = new ClusterReconciler(this, name, props.reconciler, {
      ...(agentPull(cluster) as Pick<EtcdReconcilerProps, 'image' | 'imagePullPolicy'>),
      imagePullSecrets: cluster.imagePullSecrets?.map((secret) => secret.name),
      egress: cluster.egress as NetworkEgress | undefined,
      securityContext: cluster.securityContext,
    });
    openOnlyForClients(this);
    tellIfUnreleased(this, cluster.images.gate);
    tellOfAdvisories(this, cluster.images.version.version);
    tellIfUnreachable(this, cluster);
    if (cluster.protect) requireProtectedNamespace(this);
    this.node.addValidation({ validate: () => this.problems() });
  }

  /**
   * Backs up the cluster on a schedule. The reconciler uses the settings of the first schedule for its own backups,
   * such as the one before an upgrade, unless `backupSchedule` names another schedule.
   *
   * @param id The name of the schedule, whose CronJob is `<cluster>-<id>`.
   * @param options The store, the schedule and the retention of the backups.
   */
  addBackupSchedule(id: string, options: BackupScheduleOptions): EtcdBackupSchedule {
    requireTypes(futureConstruct(this, id), options, types.BackupScheduleOptions);
    return this.schedule(id, options);
  }

  /**
   * Adds a schedule as the resource has it.
   * @internal
   */
  _addSchedule(schedule: BackupScheduleSpec): EtcdBackupSchedule {
    // Another id than those of the objects of the cluster.
    const name = cronJobOf(this.clusterName, schedule);
    return this.schedule(`Schedule ${schedule.name}`, { _written: schedule, name } as unknown as BackupScheduleOptions);
  }

  private schedule(id: string, options: BackupScheduleOptions): EtcdBackupSchedule {
    const schedule = new EtcdBackupSchedule(this, id, {
      ...options,
      cluster: this.clusterName,
      endpoints: this.backupEndpoints,
      _clientEndpoints: this.clientEndpoints,
      _record: this.cluster.names.record,
      tls: this.backupTls,
      _clusterMetadata: this.cluster,
      _protect: this.cluster.protect,
      _complete: (spec) => withPull(this.cluster, spec),
    });
    this.schedules.push(schedule);
    return schedule;
  }

  /**
   * Adds a user of etcd, with its permissions, and a certificate or a password. With the first user, the reconciler
   * switches etcd's authentication on: from then on, a client may do only what its user may do, and a client without a
   * user nothing.
   *
   * @param id The id of the user, who is named after it by default.
   * @param options What the user may do.
   */
  addUser(id: string, options: EtcdUserOptions): EtcdUser {
    const users = folderIn(this, 'Users');
    requireTypes(futureConstruct(users, id), options, types.EtcdUserOptions);
    return new EtcdUser(users, id, { ...options, cluster: this });
  }

  /**
   * Adds a client: `connect` gives the endpoints and the certificate to a workload, and the members admit its pods. With
   * `can`, the client has a user of etcd of its own.
   *
   * @param id The id of the client, which is named `<cluster>-<id>`.
   * @param options What the client may do, and which pods it has.
   */
  addClient(id: string, options: EtcdClientOptions = {}): EtcdClient {
    const clients = folderIn(this, 'Clients');
    requireTypes(futureConstruct(clients, id), options, types.EtcdClientOptions);
    const labels = { ...this.cluster.labels, ...options.labels };
    return new EtcdClient(clients, id, { ...options, cluster: this, labels });
  }

  /**
   * Adds what Prometheus needs to monitor the cluster and its reconciler: what to scrape, who may connect, and alerts.
   *
   * @param options What differs from the defaults.
   */
  addMonitoring(options: MonitoringOptions = {}): EtcdMonitoring {
    requireTypes(futureConstruct(this, 'Monitoring'), options, types.MonitoringOptions);
    return this.monitor(options);
  }

  /**
   * Adds the monitoring as the resource has it.
   * @internal
   */
  _addMonitoring(spec: ClusterMonitoringSpec): EtcdMonitoring {
    return this.monitor({ _written: spec });
  }

  private monitor(options: Omit<EtcdMonitoringProps, 'cluster'>): EtcdMonitoring {
    this.monitoring = new EtcdMonitoring(this, 'Monitoring', { ...options, cluster: this });
    return this.monitoring;
  }

  /**
   * Returns the cluster as a peer for the network policies and connections of cdk8s-plus, such as
   * `deployment.connections.allowTo(etcd)`, which opens the port for clients.
   */
  // biome-ignore lint/suspicious/noExplicitAny: a type of cdk8s-plus, which has a package for each Kubernetes
  toNetworkPolicyPeerConfig(): any {
    return membersAsPeer(this, this.clusterName);
  }

  /** Selects the members, for what cdk8s-plus does with pods, such as `deployment.scheduling.colocate(etcd)`. */
  // biome-ignore lint/suspicious/noExplicitAny: a type of cdk8s-plus, which has a package for each Kubernetes
  toPodSelector(): any {
    return this;
  }

  /** Returns the labels of the members and their namespace, for cdk8s-plus. */
  // biome-ignore lint/suspicious/noExplicitAny: a type of cdk8s-plus, which has a package for each Kubernetes
  toPodSelectorConfig(): any {
    return membersAsPeer(this, this.clusterName).podSelector;
  }

  /** @internal */
  _monitored(): MonitoredCluster {
    return monitoredCluster(this.cluster, () => this.ownReconciler.get().reconcilerName);
  }

  /** @internal */
  _clientAccess(): ClientAccess {
    const { name, networkAccess } = this.cluster;
    return { memberSelector: memberSelector(name), admitsNamespace: admitsNamespace(networkAccess) };
  }

  /** @internal */
  _userAccess(): UserAccess {
    const { tls, auth, images, labels, annotations } = this.cluster;
    const { version } = images.version;
    return {
      tls,
      auth,
      version,
      labels,
      annotations,
      reconcilerAccount: Lazy.any({ produce: () => this.reconcilerAccount() }),
    };
  }

  private object(id: string, { metadata, ...manifest }: Manifest): ApiObject {
    this.names.take(manifest.kind, metadata.name);
    // Schedules may be added until synthesis.
    const spec = Lazy.any({
      produce: () =>
        completeSpec(this.written.spec, this.scheduleSpecs(), this.ownReconciler.get(), this.monitoringSpec()),
    });
    return new ApiObject(this, id, { ...manifest, metadata, ...(manifest.kind === 'EtcdCluster' && { spec }) });
  }

  private reconcilerAccount(): string {
    return this.ownReconciler.get().serviceAccountName;
  }

  private scheduleSpecs(): BackupScheduleSpec[] {
    return this.schedules.filter(isAttached).map((schedule) => schedule._spec() as BackupScheduleSpec);
  }

  private monitoringSpec(): ClusterMonitoringSpec | undefined {
    return this.monitoring && isAttached(this.monitoring) ? this.monitoring._spec : undefined;
  }

  private problems(): string[] {
    const schedules = this.scheduleSpecs().map(({ name }) => name);
    const own = [
      ...this.propertyProblems.get(schedules.join(), () => [
        ...this.written.problems,
        ...clusterProblems(this.cluster, schedules),
        ...propProblems(laterProblems('EtcdCluster', this.written.spec)),
        ...this.finishedProblems(),
      ]),
      ...this.ownReconciler.problems(clusterLabels(this.cluster)),
      ...this.names.problems(),
    ];
    const found = emittedProblems(this.customResource, clusterPropNames, false);
    // Each schedule and the monitoring report their own, and the names of Secrets follow from that of the cluster.
    const elsewhere = isMisnamed(this)
      ? /^(addBackupSchedule(\[|: the name)|monitoring|tls)/
      : /^(addBackupSchedule(\[|: the name)|monitoring)/;
    return withFound(
      own,
      found.filter((problem) => !elsewhere.test(problem)),
    );
  }

  private finishedProblems(): readonly string[] {
    const backup = { ...this.cluster.backup, schedules: this.scheduleSpecs() };
    return finishedProblems(this.written, { ...this.cluster, backup });
  }
}

/** Properties of the fields of the resource that have another name. */
const clusterPropNames: PropNames = {
  'spec.storage': 'volume',
  'spec.storage.size': 'volume.size',
  'spec.storage.ephemeral': 'volume.ephemeral',
  'spec.storage.storageClassName': 'volume.storageClass',
  'spec.pvcPolicy': 'onShrink or onDelete',
  'spec.pvcPolicy.onShrink': 'onShrink',
  'spec.pvcPolicy.onDelete': 'onDelete',
  'spec.finalBackup.required': 'finalBackup',
  'spec.maintenance.onNoSpace': 'onNoSpace',
  'spec.storage.accessModes': 'volume.readWriteOncePod',
  'spec.backup': 'backup schedules',
  'spec.backup.schedules': 'addBackupSchedule',
  'spec.backup.schedule': 'backupSchedule',
  ...below('spec', jobPropNames),
  ...below('spec.origin', jobPropNames),
  ...below('spec', tlsPropNames),
  'spec.backup.requiredForUpgrade': 'requireBackupForUpgrade',
  'spec.reconciler.serviceAccountName': 'reconciler',
};

/** Users and `auth: true` refuse a version that does not enforce permissions. */
function tellOfAdvisories(cluster: Construct, version: string): void {
  const found = advisoriesForCluster(version);
  if (found.length > 0) tellOnce(cluster, () => `${adviceOn(found, version)} (known on ${advisoriesAsOf})`);
}

/** A peer without addresses is a pod, and clients outside of Kubernetes are not. */
function tellIfUnreachable(cluster: Construct, { name, externalServices, networkAccess }: ResolvedCluster): void {
  const isOpen = networkAccess.anywhere || networkAccess.peers?.some(({ cidr }) => cidr !== undefined);
  if (!externalServices || isOpen) return;
  tellOnce(
    cluster,
    () =>
      `${name}: networkAccess lets no client outside of Kubernetes through externalServices; add a peer with their addresses (cidr), or remove externalServices`,
  );
}

interface ObjectName {
  readonly kind: string;
  readonly name: string;
  readonly namesakes: readonly Construct[];
}

/** The names of a cluster's objects. A second object with one of these names would silently replace the first. */
class ClusterObjectNames {
  private readonly taken: ObjectName[] = [];

  constructor(private readonly cluster: Construct) {}

  take(kind: string, name: string): void {
    this.taken.push({ kind, name, namesakes: takeName(this.cluster, kind, name) });
  }

  problems(): string[] {
    const shared = this.taken.filter(({ namesakes }) => namesakes.length > 1);
    const problemsOf = ({ kind, name }: ObjectName) =>
      namesakeProblems(this.cluster, kind, kind === 'EtcdCluster' ? 'etcd cluster' : kind, name);
    // Two clusters with the same name share all names: report only the cluster itself.
    const cluster = shared.filter(({ kind }) => kind === 'EtcdCluster').flatMap(problemsOf);
    return cluster.length > 0 ? cluster : shared.flatMap(problemsOf);
  }
}
