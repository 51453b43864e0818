// Values that plain JavaScript may pass to each property of each public interface. Each must cause one line with the
// construct's path and the property.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Chart, Cron, Testing } from 'cdk8s';
import type { Construct } from 'constructs';
import * as ts from 'typescript';
import {
  BackupStore,
  ControlPlaneEtcdBackup,
  Encryption,
  EtcdAuth,
  EtcdBackup,
  EtcdBackupSchedule,
  EtcdClientTls,
  EtcdCluster,
  EtcdReconciler,
  EtcdResources,
  EtcdRestore,
  EtcdTls,
  EtcdTuning,
  NetworkAccess,
  OssCredentials,
  ReplacePolicy,
  RestoreSource,
  Retention,
  S3Credentials,
  SftpCredentials,
} from '../../src';
import { s3, valid } from '../synth';

// biome-ignore lint/suspicious/noExplicitAny: that is the point
type Any = any;
type Make = (chart: Chart, props: Any) => Construct;

const recipient = 'age123z0dujas5ltpxxq72m3uqn9x0xwrfls84nga7pfe466w9tsdc0s7rthxh';
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
const to = (store: BackupStore): object => ({ store });
const s3Props = { bucket: 'backups', region: 'r', credentials: S3Credentials.fromSecret('s3') };

/** Puts the properties of each interface into an app, with otherwise valid properties. */
const drivers: Readonly<Record<string, Make>> = {
  EtcdClusterProps: cluster,
  EtcdVolume: (chart, volume) => cluster(chart, { volume }),
  ClusterOrigin: (chart, origin) => cluster(chart, { origin: { source: RestoreSource.backup('b'), ...origin } }),
  QuorumRecovery: (chart, recovery) => {
    const orders = cluster(chart, { recovery: { id: 'a', acceptDataLoss: true, ...recovery } });
    orders.addBackupSchedule('nightly', nightly);
    return orders;
  },
  ReplaceRequest: (chart, request) =>
    cluster(chart, { replace: ReplacePolicy.manual({ ordinal: 0, memberId: 'ab', ...request }) }),
  EtcdResourcesProps: (chart, resources) => cluster(chart, { resources: EtcdResources.of(resources) }),
  EtcdTuningProps: (chart, tuning) => cluster(chart, { tuning: EtcdTuning.of(tuning) }),
  ManagedTlsProps: (chart, tls) => cluster(chart, { tls: EtcdTls.managed(tls) }),
  CertManagerTlsProps: (chart, tls) => cluster(chart, { tls: EtcdTls.certManager({ issuer: 'ca', ...tls }) }),
  TlsSecrets: (chart, tls) =>
    cluster(chart, { tls: EtcdTls.fromSecrets({ peer: 'p', server: 's', client: 'c', ...tls }) }),
  NetworkPeer: (chart, peer) => cluster(chart, { networkAccess: NetworkAccess.from({ podLabels: {}, ...peer }) }),
  NetworkEgress: (chart, egress) => cluster(chart, { egress: { apiServer: [{ cidr: '10.0.0.1/32' }], ...egress } }),
  NetworkDestination: (chart, destination) =>
    cluster(chart, { egress: { apiServer: [{ podLabels: {}, ...destination }] } }),
  Toleration: (chart, toleration) => cluster(chart, { tolerations: [{ operator: 'Exists', ...toleration }] }),
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
  EtcdBackupProps: (chart, props) =>
    new EtcdBackup(chart, 'subject', { endpoints: ['etcd:2379'], store: s3, ...props }),
  EtcdRestoreProps: restore,
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

/** Returns values of a wrong type, given the text of the right type. */
function wrongFor(type: string): readonly unknown[] {
  if (type === 'string') return [3, true, {}, ['a'], null];
  if (type === 'number') return ['3', true, {}, null, Number.NaN];
  if (type === 'boolean') return ['true', 1, {}, null];
  if (type === 'string[]') return ['a', 3, {}, [3], null];
  if (type.endsWith('[]')) return ['a', 3, {}, ['a'], [null], null];
  if (type.includes('any }')) return ['a', 3, null];
  if (type.startsWith('{')) return ['a', 3, ['a'], { a: 3 }, null];
  return ['nonsense', 3, {}, ['a'], null];
}

/** Interfaces for which an empty object is valid. */
const mayBeEmpty = /^(EtcdVolume|BackupResources|ReconcilerResources|ControlPlaneCertificates|ControlPlaneFiles)$/;

interface Property {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
}

const source = join(__dirname, '../../src');
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

function propertiesOf(name: string): Property[] {
  const { properties, parents } = interfaces.get(name)!;
  return [...parents.flatMap(propertiesOf), ...properties];
}

/** Returns all messages of an app about its mistakes. */
function linesOf(make: Make, props: unknown): string[] {
  const app = Testing.app();
  const chart = new Chart(app, 'shop', { namespace: 'shop' });
  try {
    make(chart, props);
    const lines = app.node.findAll().flatMap(({ node }) => node.validate().map((line) => `${node.path}: ${line}`));
    if (lines.length === 0) Testing.synth(chart);
    return lines;
  } catch (error) {
    return [`${(error as Error).message}`];
  }
}

const exported = [...readFileSync(join(source, 'index.ts'), 'utf8').matchAll(/\b[A-Z]\w+\b/g)].map(([name]) => name);

test('every public interface of properties has a driver', () => {
  expect(existsSync(source)).toBe(true);
  const wanted = exported.filter((name) => interfaces.has(name) && !/^I[A-Z]/.test(name));
  expect(Object.keys(drivers).sort()).toEqual(wanted.sort());
});

test.each(Object.entries(drivers))('%s without a mistake reports none', (_, make) => {
  expect(linesOf(make, {})).toEqual([]);
});

const cases = Object.entries(drivers).flatMap(([name, make]) =>
  propertiesOf(name).flatMap(({ name: property, type, isRequired }) =>
    [...wrongFor(type), ...(isRequired ? [undefined] : [])]
      .filter((value) => !(mayBeEmpty.test(type) && JSON.stringify(value) === '{}'))
      .map((value) => ({ of: name, property, value, make })),
  ),
);

test.each(cases)('$of: $property: $value', ({ property, value, make }) => {
  const lines = linesOf(make, { [property]: value });
  expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^shop/\\S+: (.*[^\\w])?${property}\\b`)));
  expect(lines.join()).not.toMatch(/is not a function|Cannot |not iterable|TypeError/);
});

test.each(Object.entries(drivers))('%s: an unknown property', (_, make) => {
  expect(linesOf(make, { sise: 3 })).toEqual([expect.stringMatching(/^shop\/\S+: .*\bsise: is not a property/)]);
});
