import { EtcdVersion } from '../../etcd/etcd-version';
import { quotaBytes } from '../../etcd/quota';
import type { BackupScheduleSpec, EtcdClusterSpec } from '../../resource/types';
import { nameProblem } from '../../validation/names';
import { isObject } from '../../validation/plain-object';
import type { Document } from '../documents';
import { autoCompaction, envSettings } from '../env';
import { type Fields, filled } from '../fields';
import { hostsOf, type Images, supportedVersion } from '../older-operators';
import type { PlannedCluster } from '../plan';
import { affinity, resources, tolerations, withMemory } from '../pod';
import { sizeText } from '../units';
import { bitnamiStorage } from './storage';
import { mechanics, unequal } from './unequal';

export function bitnamiCluster(document: Document): PlannedCluster {
  const { name, spec: values, report } = document;
  values.ignore('fullnameOverride', 'nameOverride', 'namespaceOverride');
  report.note(
    values.at('fullnameOverride'),
    `the new cluster is '${name}', as are its StatefulSet and its Services; if the release of the chart has the same, apply this to another namespace (--namespace), or after the release has been uninstalled, or write another name here`,
  );
  report.note('', `clients reach the new cluster at ${name}:2379, as they reached the old one`);
  const wrong = nameProblem(values.at('fullnameOverride'), name);
  if (wrong) report.error('', wrong);
  const images = imagesOf(document);
  const storage = bitnamiStorage(values);
  const {
    quotaBytes: quotaGiven,
    settings,
    tuning,
    containers,
  } = envSettings(values, 'extraEnvVars', EtcdVersion.of(images.version));
  const quota = quotaGiven === undefined ? undefined : sizeText(quotaGiven);
  const schedule = scheduleOf(values.object('disasterRecovery'));
  const spec: EtcdClusterSpec = {
    ...sizeOf(values),
    ...images,
    storage,
    quota,
    tls: tlsOf(document),
    resources: withMemory(
      values,
      resources(values.object('resources')),
      quotaBytes({ quota, storage }),
      'ETCD_QUOTA_BACKEND_BYTES in extraEnvVars',
    ),
    settings: withLogLevel(values, settings),
    tuning: withCompaction(values, tuning),
    containers,
    ...podOf(values),
    backup: schedule && { schedules: [schedule] },
    monitoring: monitoringOf(values),
  };
  skipRest(values);
  return {
    ...{ kind: 'EtcdCluster', name, document, spec },
    schedules: schedule && [{ document, path: values.at('disasterRecovery') }],
    old: hostsOf(
      document,
      (host) => host === name || host === `${name}-headless` || host.endsWith(`.${name}-headless`),
    ),
  };
}

function sizeOf(values: Fields): Pick<EtcdClusterSpec, 'size' | 'allowEvenSize'> {
  const size = values.integer('replicaCount');
  const at = values.at('replicaCount');
  if (size === undefined)
    values.report.note(at, 'is missing, and the chart then runs one member; prefer 3, which survive the loss of one');
  else if (size % 2 === 0)
    values.report.note(at, `${size} members survive no more failures than ${size - 1}; prefer an odd number`);
  return { size: size ?? 1, allowEvenSize: size !== undefined && size % 2 === 0 ? true : undefined };
}

/** The images of the chart start etcd by scripts of their own, so etcd's own image replaces them. */
function imagesOf({
  spec: values,
  report,
}: Document): Images & Pick<EtcdClusterSpec, 'imagePullPolicy' | 'imagePullSecrets'> {
  const image = values.object('image');
  image?.ignore('registry', 'repository', 'digest', 'debug');
  const given = image?.text('tag');
  const [, number = ''] = /^v?(\d+\.\d+(?:\.\d+)?)/.exec(given ?? '') ?? [];
  const supported = supportedVersion(number);
  const version = supported?.version ?? EtcdVersion.V3_6.version;
  const at = values.at('image');
  if (!supported)
    report.note(
      at,
      `does not show which supported version of etcd the chart runs; it becomes ${version}: ask a pod (etcd --version), and write it as tag`,
    );
  else if (supported.note) report.note(`${at}.tag`, supported.note);
  report.note(at, "becomes etcd's own image; --registry selects a mirror of it");
  const own = image?.strings('pullSecrets');
  return {
    version,
    imagePullPolicy: image?.oneOf('pullPolicy', ['Always', 'IfNotPresent', 'Never'] as const),
    imagePullSecrets: own && own.length > 0 ? own.map((secret) => ({ name: secret })) : undefined,
  };
}

function tlsOf({ name, spec: values, report }: Document): EtcdClusterSpec['tls'] {
  const auth = values.object('auth');
  auth?.ignore('token');
  const rbac = auth?.object('rbac');
  const isOn = rbac?.boolean('create') ?? rbac?.boolean('enabled') ?? true;
  rbac?.ignore('create', 'enabled', ...rbac.keys);
  if (isOn)
    report.lost(
      values.at('auth.rbac'),
      'the password of root is not taken over: every client that can connect may read and write everything. Users are EtcdUsers, and need TLS: write tls: {managed: {}} into the EtcdCluster, and an EtcdUser for each client',
    );
  const sides = ['client', 'peer'].map((side) => auth?.object(side));
  const safe = sides.map((side) => side?.boolean('secureTransport') === true);
  const secrets = sides.map((side) => (side?.boolean('secureTransport') ? side.text('existingSecret') : undefined));
  for (const side of sides) side?.ignore(...side.keys);
  if (!safe.includes(true)) return undefined;
  if (safe.includes(false))
    report.note(values.at('auth'), 'had TLS on one side; it becomes TLS for clients and members');
  if (!secrets.some((secret) => secret !== undefined)) return { managed: {} };
  const files = {
    peerSecret: `${name}-peer-tls`,
    serverSecret: `${name}-server-tls`,
    clientSecret: `${name}-client-tls`,
  };
  report.lost(
    values.at('auth.client.existingSecret'),
    `the old Secrets have other keys, and their certificates are for names that the new members do not have; create the Secrets ${Object.values(files).join(', ')}, each with ca.crt, tls.crt and tls.key, for the names that docs/clusters/tls.md#with-your-own-secrets lists, or write tls: {managed: {}} into the EtcdCluster`,
  );
  return files;
}

/** `disasterRecovery`: snapshots in a claim that all members share, from which a broken cluster started anew. */
function scheduleOf(recovery: Fields | undefined): BackupScheduleSpec | undefined {
  if (!recovery) return undefined;
  const isOn = recovery.boolean('enabled') === true;
  const job = recovery.object('cronjob');
  const claim = recovery.object('pvc');
  const [cron, kept] = [job?.text('schedule'), job?.integer('snapshotHistoryLimit')];
  const [claimName, directory] = ['existingClaim', 'subPath'].map((key) => claim?.text(key));
  for (const each of [job, claim, recovery]) each?.ignore(...each.keys);
  if (!isOn) return undefined;
  const { report } = recovery;
  if (claimName === undefined) {
    report.lost(
      recovery.at('pvc'),
      'names no claim for the backups, and the claim that the chart made belongs to its release; add a schedule with a store to spec.backup.schedules of the EtcdCluster, such as a bucket, or name a claim as existingClaim',
    );
    return undefined;
  }
  report.note(
    recovery.path,
    'becomes the backup schedule `snapshots`; a cluster that has lost its quorum does not start from it by itself: docs/concepts/quorum-loss.md says what to do',
  );
  const store = { filesystem: { persistentVolumeClaim: { claimName }, directory }, retention: { last: kept ?? 1 } };
  return { name: 'snapshots', cron: cron ?? '*/30 * * * *', stores: [store] };
}

function podOf(values: Fields): Partial<EtcdClusterSpec> {
  const text = (key: string) => values.text(key);
  return {
    labels: filled(values.map('commonLabels')),
    annotations: filled(values.map('commonAnnotations')),
    podLabels: filled(values.map('podLabels')),
    podAnnotations: filled(values.map('podAnnotations')),
    nodeSelector: filled(values.map('nodeSelector')),
    tolerations: tolerations(values),
    affinity: affinity(values.object('affinity')),
    priorityClassName: text('priorityClassName'),
    schedulerName: text('schedulerName'),
    runtimeClassName: text('runtimeClassName'),
    clusterDomain: text('clusterDomain') === 'cluster.local' ? undefined : text('clusterDomain'),
  };
}

function withLogLevel(values: Fields, settings: EtcdClusterSpec['settings']): EtcdClusterSpec['settings'] {
  const level = values.text('logLevel');
  return level === undefined || level === 'info' ? settings : { ...settings, 'log-level': level };
}

/** The chart sets them as variables, so those of `extraEnvVars` come last there, too. */
function withCompaction(values: Fields, tuning: EtcdClusterSpec['tuning']): EtcdClusterSpec['tuning'] {
  const mode = values.text('autoCompactionMode');
  const retention = values.quantity('autoCompactionRetention') || undefined;
  if (retention === undefined) return tuning;
  const own = autoCompaction(values.at('autoCompactionRetention'), mode, retention, values.report);
  return own && { autoCompaction: own, ...tuning };
}

function monitoringOf(values: Fields): EtcdClusterSpec['monitoring'] {
  const metrics = values.object('metrics');
  const isOn = metrics?.boolean('enabled') === true;
  metrics?.ignore(...metrics.keys);
  if (!isOn) return undefined;
  values.report.note(
    values.at('metrics'),
    "becomes the library's own monitoring: ServiceMonitors, alerts and a dashboard, which need the Prometheus operator; spec.monitoring.scrape.method of the EtcdCluster changes that",
  );
  return {};
}

/** Reports what has no equal, unless it is empty or switched off. */
function skipRest(values: Fields): void {
  values.ignore(...mechanics);
  for (const key of values.keys) {
    const value = values.peek(key);
    if (isOff(key, value)) values.ignore(key);
    else if (Object.hasOwn(unequal, key)) values.lose(key, unequal[key]!);
  }
}

function isOff(key: string, value: unknown): boolean {
  if (value === '' || value === false || (Array.isArray(value) && value.length === 0)) return true;
  if (!isObject(value)) return false;
  if (Object.keys(value).length === 0 || value.enabled === false) return true;
  if (key === 'serviceAccount') return !value.name && !filled(value.annotations as object);
  return key === 'service' && (value.type ?? 'ClusterIP') === 'ClusterIP' && !filled(value.annotations as object);
}
