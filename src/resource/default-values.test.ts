// The defaults in the documentation of properties are those of the schema.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import * as cdk8s from 'cdk8s';
import * as ts from 'typescript';
import * as library from '..';
import { tuningSettings } from '../cluster/settings/etcd-tuning';
import { durationText, parseDuration } from '../lib/duration';
import { defaults } from './defaults';

const source = join(__dirname, '..');

/** The text after `@default` of each property, by interface. A text that begins with a dash is in words. */
const documented = new Map<string, Map<string, string>>();
for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((each) => each.endsWith('.ts'))) {
  const parsed = ts.createSourceFile(file, readFileSync(join(source, file), 'utf8'), ts.ScriptTarget.ES2022, true);
  for (const statement of parsed.statements.filter(ts.isInterfaceDeclaration)) {
    const found = statement.members.flatMap((member): [string, string][] => {
      const tag = ts.getJSDocTags(member).find(({ tagName }) => tagName.text === 'default');
      return tag && member.name ? [[member.name.getText(), ts.getTextOfJSDocComment(tag.comment) ?? '']] : [];
    });
    documented.set(statement.name.text, new Map(found));
  }
}

const names = { ...library, ...cdk8s };

/** Returns the default as the resource has it, of what the documentation of a property says in code. */
function meaningOf(text: string): unknown {
  const [first = ''] = text.split('.');
  // A text stands there without quotes.
  if (/^[A-Za-z/][\w/-]*$/.test(first) && !(first in names) && !['true', 'false'].includes(first)) return text;
  const value = runInNewContext(text, names);
  if (value instanceof cdk8s.Duration) return durationText(value);
  if (Array.isArray(value)) return [...value];
  return typeof value === 'object' ? value._spec() : value;
}

/** Texts of one duration are the same. */
function normal(value: unknown): unknown {
  const duration = typeof value === 'string' ? parseDuration(value) : undefined;
  return duration ? durationText(duration) : value;
}

const { EtcdClusterSpec: cluster, BackupScheduleSpec: schedule, EtcdBackupSpec: backup } = defaults;
const { ControlPlaneSpec: controlPlane } = defaults;

/** The defaults of the schema for the properties of an interface. */
const properties: Readonly<Record<string, object>> = {
  EtcdClusterProps: {
    ...{ size: cluster.size, allowEvenSize: cluster.allowEvenSize, paused: cluster.paused },
    ...{ imagePullPolicy: cluster.imagePullPolicy, clusterDomain: cluster.clusterDomain },
    ...{ networkAccess: cluster.networkAccess, metricsAccess: cluster.metricsAccess },
    ...{ onShrink: cluster.pvcPolicy.onShrink, onDelete: cluster.pvcPolicy.onDelete },
    replace: { policy: cluster.replace.policy },
    requireBackupForUpgrade: cluster.backup.requiredForUpgrade,
    onNoSpace: cluster.maintenance.onNoSpace,
    revisionHistoryLimit: cluster.revisionHistoryLimit,
  },
  EtcdVolume: { ephemeral: cluster.storage.ephemeral },
  ReplaceRequest: cluster.replace.force,
  EtcdTuningProps: { ...cluster.tuning, autoCompaction: undefined },
  TlsSwitchOptions: defaults.TlsSpec,
  CertManagerTlsProps: defaults.CertManagerTlsSpec,
  BackupScheduleOptions: schedule,
  EtcdBackupProps: { dialTimeout: backup.timeouts.dial, timeout: backup.timeouts.total },
  EtcdRestoreProps: defaults.EtcdRestoreSpec,
  RetentionTiers: defaults.BackupRetentionSpec,
  SftpStoreProps: defaults.SftpStoreSpec,
  CommandStoreProps: defaults.CommandStoreSpec,
  S3SecretOptions: defaults.S3StoreSpec,
  Toleration: defaults.TolerationSpec,
  EtcdReconcilerProps: {
    name: cluster.reconciler.serviceAccountName,
    ...defaults.EtcdReconcilerSpec,
    resources: undefined,
  },
  ControlPlaneEtcdBackupProps: { ...controlPlane, certificates: undefined, files: undefined },
  ControlPlaneCertificates: controlPlane.certificates,
  ControlPlaneFiles: controlPlane.files,
};

const cases = Object.entries(properties).flatMap(([of, values]) =>
  Object.entries(values).flatMap(([property, value]) => (value === undefined ? [] : [{ of, property, value }])),
);

test.each(cases)('$of: $property is $value', ({ of, property, value }) => {
  const text = documented.get(of)?.get(property) ?? '';
  expect(meaningOf(text)).toEqual(normal(value));
});

test('a default in code that the schema has is checked above', () => {
  const checked = new Set(cases.map(({ of, property }) => `${of}.${property}`));
  const unchecked = Object.keys(properties).flatMap((of) =>
    [...documented.get(of)!].flatMap(([property, text]) =>
      text.startsWith('-') || checked.has(`${of}.${property}`) ? [] : [`${of}.${property}`],
    ),
  );
  // What several fields have together, or what the schema requires.
  expect(unchecked).toEqual([
    ...['EtcdClusterProps.resources', 'EtcdClusterProps.tuning', 'EtcdClusterProps.tls'],
    ...['EtcdVolume.size', 'EtcdVolume.readWriteOncePod'],
  ]);
});

test('defaults of other texts are the values of the schema', () => {
  expect(library.EtcdResources.DEFAULT._spec()).toBeUndefined();
  expect(tuningSettings(library.EtcdTuning.LAN._spec())).toEqual(tuningSettings(cluster.tuning));
  expect(library.EtcdSpread.DEFAULT._spec()).toEqual(cluster.spread);
  expect(library.AutoCompaction.periodic(cdk8s.Duration.hours(1))._spec()).toEqual(cluster.tuning.autoCompaction);
  const { requests, limits } = cluster.resources;
  expect(documented.get('EtcdResourcesProps')?.get('cpuRequest')).toContain(requests.cpu);
  expect(documented.get('EtcdResourcesProps')?.get('memoryRequest')).toContain(requests.memory);
  expect(documented.get('EtcdResourcesProps')?.get('memoryLimit')).toContain(limits.memory);
  const ofReconciler = documented.get('EtcdReconcilerProps')?.get('resources');
  for (const amounts of Object.values(defaults.EtcdReconcilerSpec.resources))
    for (const amount of Object.values(amounts)) expect(ofReconciler).toContain(amount);
  expect(documented.get('ExternalReconcilerOptions')?.get('name')).toContain(cluster.reconciler.serviceAccountName);
});
