// Every public interface of properties, as it is declared, and a way to put it into an app.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiObject, type Chart, Cron } from 'cdk8s';
import type { Construct } from 'constructs';
import * as ts from 'typescript';
import {
  BackupStore,
  ControlPlaneEtcdBackup,
  Encryption,
  EtcdAlerts,
  EtcdAuth,
  EtcdBackup,
  EtcdBackupSchedule,
  EtcdClient,
  EtcdClientTls,
  EtcdCluster,
  EtcdCrds,
  EtcdDashboard,
  EtcdMonitoring,
  EtcdReconciler,
  EtcdResources,
  EtcdRestore,
  EtcdScrape,
  EtcdTls,
  EtcdTuning,
  EtcdUser,
  NetworkAccess,
  OssCredentials,
  OverrideTarget,
  ReplacePolicy,
  RestoreSource,
  Retention,
  S3Credentials,
  SftpCredentials,
} from '../src';
import { s3, valid } from './synth';

// biome-ignore lint/suspicious/noExplicitAny: that is the point
export type Any = any;
export type Make = (chart: Chart, props: Any) => Construct;

const recipient = 'age123z0dujas5ltpxxq72m3uqn9x0xwrfls84nga7pfe466w9tsdc0s7rthxh';
const volumes = [{ name: 'own', emptyDir: {} }];
const nightly = { schedule: Cron.daily(), store: s3 };
const cluster = (chart: Chart, props: Any) => new EtcdCluster(chart, 'subject', props);
const schedule = (chart: Chart, props: Any) => new EtcdBackupSchedule(chart, 'subject', { ...valid, ...props });
const restore = (chart: Chart, props: Any) => {
  const orders = new EtcdCluster(chart, 'orders');
  orders.addBackupSchedule('nightly', nightly);
  return new EtcdRestore(chart, 'subject', { cluster: orders, source: RestoreSource.backup('b'), ...props });
};
const controlPlane = (chart: Chart, props: Any) =>
  new ControlPlaneEtcdBackup(chart, 'subject', { cluster: 'prod', ...nightly, createNamespace: false, ...props });
const monitoring = (chart: Chart, options: Any) => cluster(chart, {}).addMonitoring(options);
/** A client of a cluster that admits nobody else, and a workload that connects. */
const client = (chart: Chart, { cluster: of, ...props }: Any, options?: Any) => {
  const orders = of ?? new EtcdCluster(chart, 'orders', { networkAccess: NetworkAccess.nobody() });
  const subject = new EtcdClient(chart, 'subject', { ...props, cluster: orders });
  const spec = { template: { spec: { containers: [{ name: 'api' }, { name: 'proxy' }] } } };
  subject.connect(new ApiObject(chart, 'workload', { apiVersion: 'apps/v1', kind: 'Deployment', spec }), options);
  return subject;
};
/** Both or none are given. */
const pairOf = (tls: Any) => ((tls.root ?? tls.backup) ? { root: 'r', backup: 'b' } : {});
const to = (store: BackupStore): object => ({ store });
const s3Props = { bucket: 'backups', region: 'r', credentials: S3Credentials.fromSecret('s3') };

const fromSecrets: Make = (chart, tls) =>
  cluster(chart, { tls: EtcdTls.fromSecrets({ peer: 'p', server: 's', client: 'c', ...pairOf(tls), ...tls }) });

/** Puts the properties of each interface into an app, with otherwise valid properties. */
export const drivers: Readonly<Record<string, Make>> = {
  EtcdClusterProps: cluster,
  EtcdCrdsProps: (chart, props) => new EtcdCrds(chart, 'subject', props),
  EtcdVolume: (chart, volume) => cluster(chart, { volume }),
  ClusterOrigin: (chart, origin) => cluster(chart, { origin: { source: RestoreSource.backup('b'), ...origin } }),
  QuorumRecovery: (chart, recovery) => {
    const orders = cluster(chart, { recovery: { id: 'a', acceptDataLoss: true, ...recovery } });
    orders.addBackupSchedule('nightly', nightly);
    return orders;
  },
  ReplaceRequest: (chart, request) =>
    cluster(chart, { replace: ReplacePolicy.manual({ ordinal: 0, memberId: 'ab', ...request }) }),
  MonitoringOptions: monitoring,
  EtcdMonitoringProps: (chart, props) =>
    new EtcdMonitoring(chart, 'subject', { cluster: new EtcdCluster(chart, 'orders'), ...props }),
  BackupMonitoringOptions: (chart, options) => schedule(chart, {}).addMonitoring(options),
  EtcdAlertsOptions: (chart, alerts) => monitoring(chart, { alerts: EtcdAlerts.of(alerts) }),
  DashboardOptions: (chart, dashboard) => monitoring(chart, { dashboard: EtcdDashboard.configMap(dashboard) }),
  ServiceMonitorOptions: (chart, scrape) => monitoring(chart, { scrape: EtcdScrape.serviceMonitors(scrape) }),
  EtcdResourcesProps: (chart, resources) => cluster(chart, { resources: EtcdResources.of(resources) }),
  EtcdTuningProps: (chart, tuning) => cluster(chart, { tuning: EtcdTuning.of(tuning) }),
  ManagedTlsProps: (chart, tls) => cluster(chart, { tls: EtcdTls.managed(tls) }),
  TlsSwitchOptions: (chart, tls) => cluster(chart, { tls: EtcdTls.managed(tls) }),
  NoTlsProps: (chart, tls) => cluster(chart, { tls: EtcdTls.none(tls) }),
  CertManagerTlsProps: (chart, tls) => cluster(chart, { tls: EtcdTls.certManager({ issuer: 'ca', ...tls }) }),
  TlsSecrets: fromSecrets,
  SecretsTlsProps: fromSecrets,
  NetworkPeer: (chart, peer) => cluster(chart, { networkAccess: NetworkAccess.peers({ podLabels: {}, ...peer }) }),
  NetworkEgress: (chart, egress) => cluster(chart, { egress: { apiServer: [{ cidr: '10.0.0.1/32' }], ...egress } }),
  NetworkDestination: (chart, destination) =>
    cluster(chart, { egress: { apiServer: [{ podLabels: {}, ...destination }] } }),
  ServiceFields: (chart, service) => cluster(chart, { service: { type: 'LoadBalancer', ...service } }),
  ServiceOptions: (chart, service) => cluster(chart, { service: { type: 'LoadBalancer', ...service } }),
  ExternalServicesOptions: (chart, options) =>
    cluster(chart, { externalServices: { type: 'LoadBalancer', ...options } }),
  ExternalService: (chart, member) =>
    cluster(chart, { externalServices: { type: 'NodePort', members: [{ ordinal: 0, ...member }] } }),
  DisruptionBudgetOptions: (chart, podDisruptionBudget) => cluster(chart, { podDisruptionBudget }),
  PodOptions: cluster,
  MemberContainers: (chart, containers) => cluster(chart, { containers, volumes }),
  ContainerOptions: (chart, container) => schedule(chart, { container, volumes }),
  EtcdContainerOptions: (chart, etcd) => cluster(chart, { containers: { etcd }, volumes }),
  AgentContainerOptions: (chart, agent) => cluster(chart, { containers: { agent }, volumes }),
  GateContainerOptions: (chart, gate) => cluster(chart, { containers: { gate }, volumes }),
  ReconcilerContainerOptions: (chart, container) => new EtcdReconciler(chart, 'subject', { container, volumes }),
  ProbeTimes: (chart, livenessProbe) => cluster(chart, { containers: { etcd: { livenessProbe } } }),
  Toleration: (chart, toleration) => cluster(chart, { tolerations: [{ operator: 'Exists', ...toleration }] }),
  ObjectOverride: (chart, override) =>
    cluster(chart, {
      overrides: [
        { target: OverrideTarget.MEMBER_PODS, patch: { metadata: { annotations: { a: 'b' } } }, ...override },
      ],
    }),
  BackupScheduleOptions: (chart, options) =>
    new EtcdCluster(chart, 'orders').addBackupSchedule('subject', { ...nightly, ...options }),
  EtcdBackupScheduleProps: schedule,
  AddStoreOptions: (chart, options) => {
    const subject = schedule(chart, {});
    subject.addStore(BackupStore.filesystem({ claimName: 'c' }), options);
    return subject;
  },
  BackupResources: (chart, resources) => schedule(chart, { resources }),
  S3StoreProps: (chart, props) => schedule(chart, to(BackupStore.s3({ ...s3Props, ...props }))),
  OssStoreProps: (chart, props) =>
    schedule(chart, to(BackupStore.oss({ bucket: 'abc', credentials: OssCredentials.fromSecret('s'), ...props }))),
  SftpStoreProps: (chart, props) =>
    schedule(chart, to(BackupStore.sftp({ host: 'h', credentials: SftpCredentials.fromSecret('s'), ...props }))),
  FilesystemStoreProps: (chart, props) => schedule(chart, to(BackupStore.filesystem({ claimName: 'c', ...props }))),
  NfsVolume: (chart, nfs) => schedule(chart, to(BackupStore.filesystem({ nfs: { server: 's', path: '/p', ...nfs } }))),
  CommandStoreProps: (chart, props) =>
    schedule(chart, { image: 'r/a:1', ...to(BackupStore.command({ path: '/opt', ...props })) }),
  S3SecretOptions: (chart, options) =>
    schedule(chart, to(BackupStore.s3({ ...s3Props, credentials: S3Credentials.fromSecret('s', options) }))),
  S3WorkloadIdentityOptions: (chart, options) =>
    schedule(chart, to(BackupStore.s3({ ...s3Props, credentials: S3Credentials.workloadIdentity(options) }))),
  OssSecretOptions: (chart, options) =>
    schedule(chart, to(BackupStore.oss({ bucket: 'abc', credentials: OssCredentials.fromSecret('s', options) }))),
  SftpSecretKeys: (chart, keys) =>
    schedule(chart, to(BackupStore.sftp({ host: 'h', credentials: SftpCredentials.fromSecret('s', keys) }))),
  EtcdAuthKeys: (chart, keys) => schedule(chart, { auth: EtcdAuth.fromSecret('s', keys) }),
  EtcdClientTlsKeys: (chart, keys) => schedule(chart, { tls: EtcdClientTls.fromSecret('s', keys) }),
  RetentionTiers: (chart, tiers) => schedule(chart, { retention: Retention.tiers({ last: 3, ...tiers }) }),
  AgeEncryptionProps: (chart, props) =>
    schedule(chart, { encryption: Encryption.age({ recipients: [recipient], ...props }) }),
  ControlPlaneEtcdBackupProps: controlPlane,
  ControlPlaneCertificates: (chart, certificates) => controlPlane(chart, { certificates }),
  ControlPlaneFiles: (chart, files) =>
    controlPlane(chart, { files: { encryption: Encryption.age({ recipients: [recipient] }), ...files } }),
  EtcdClientOptions: client,
  EtcdClientProps: (chart, props) =>
    'cluster' in props ? new EtcdClient(chart, 'subject', props) : client(chart, props),
  EtcdConnectOptions: (chart, options) => client(chart, {}, options),
  EtcdUserOptions: (chart, options) => new EtcdCluster(chart, 'orders').addUser('subject', { can: [], ...options }),
  EtcdUserProps: (chart, props) =>
    new EtcdUser(chart, 'subject', { cluster: new EtcdCluster(chart, 'orders'), can: [], ...props }),
  EtcdBackupProps: (chart, props) =>
    new EtcdBackup(chart, 'subject', { endpoints: ['etcd:2379'], store: s3, ...props }),
  EtcdRestoreProps: restore,
  JobOptions: schedule,
  RestoreSourceOptions: (chart, options) => restore(chart, { source: RestoreSource.snapshot(s3, 'id', options) }),
  EtcdReconcilerProps: (chart, props) => new EtcdReconciler(chart, 'subject', props),
  ReconcilerResources: (chart, resources) => new EtcdReconciler(chart, 'subject', { resources }),
  ExternalReconcilerOptions: (chart, options) => cluster(chart, { reconciler: EtcdReconciler.external(options) }),
  EtcdEndpointsOptions: (chart, options) => EtcdCluster.fromEndpoints(chart, 'subject', ['a:2379'], options) as Any,
  EtcdClusterAttributes: (chart, attributes) =>
    EtcdCluster.fromAttributes(chart, 'subject', {
      clusterName: 'orders',
      clientEndpoints: ['a:2379'],
      ...attributes,
    }) as Any,
};

interface Property {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
}

const source = join(__dirname, '../src');
const interfaces = new Map<string, { readonly properties: Property[]; readonly parents: string[] }>();
for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((each) => each.endsWith('.ts'))) {
  const parsed = ts.createSourceFile(file, readFileSync(join(source, file), 'utf8'), ts.ScriptTarget.ES2022, true);
  for (const statement of parsed.statements.filter(ts.isInterfaceDeclaration)) {
    const properties = statement.members
      .filter(ts.isPropertySignature)
      .map(({ name, type, questionToken }) => ({
        name: name.getText(),
        type: type!.getText().replace(/readonly /g, ''),
        isRequired: !questionToken,
      }))
      .filter(({ name }) => !name.startsWith('_'));
    const parents = (statement.heritageClauses ?? []).flatMap(({ types }) => types.map((each) => each.getText()));
    interfaces.set(statement.name.text, { properties, parents });
  }
}

/** Returns the properties of an interface, with the inherited ones. */
export function propertiesOf(name: string): Property[] {
  const { properties, parents } = interfaces.get(name)!;
  return [...parents.flatMap(propertiesOf), ...properties];
}

const exported = [...readFileSync(join(source, 'index.ts'), 'utf8').matchAll(/\b[A-Z]\w+\b/g)].map(([name]) => name);

/** The names of the public interfaces of properties. */
export const publicInterfaces = exported.filter((name) => interfaces.has(name) && !/^I[A-Z]/.test(name));
