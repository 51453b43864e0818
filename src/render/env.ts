import { Duration } from 'cdk8s';
import { agentKeys, type ConfigKey, configKeys, neverWritten } from '../etcd/etcd-config-keys';
import type { EtcdVersion } from '../etcd/etcd-version';
import { durationText, goDuration, parseDuration } from '../lib/duration';
import { owned } from '../overrides/owned-fields';
import type { EtcdClusterSpec } from '../resource/types';
import type { Fields } from './fields';
import type { DocumentReport } from './report';

type Tuning = NonNullable<EtcdClusterSpec['tuning']>;

/** Settings that are part of `tuning`. */
const tuned = [
  'heartbeat-interval',
  'election-timeout',
  'snapshot-count',
  'auto-compaction-mode',
  'auto-compaction-retention',
];

/** Variables such as `ETCD_MAX_REQUEST_BYTES` set etcd's flags, and the configuration file has the same keys. */
export function envSettings(
  pod: Fields,
  list: string,
  { minor }: EtcdVersion,
): Pick<EtcdClusterSpec, 'settings' | 'tuning' | 'containers'> & { readonly quotaBytes?: number } {
  const variables = pod.objects(list);
  const ofEtcd = variables.filter((variable) => variable.required('name').startsWith('ETCD_'));
  const given = new Map(ofEtcd.flatMap((variable) => settingOf(variable, minor)));
  const env = variables.filter((variable) => !ofEtcd.includes(variable)).flatMap(variableOf);
  const quota = given.get('quota-backend-bytes');
  const others = [...given].filter(([key]) => key !== 'quota-backend-bytes' && !tuned.includes(key));
  return {
    quotaBytes: typeof quota === 'number' && quota > 0 ? quota : undefined,
    tuning: tuned.some((key) => given.has(key)) ? tuningOf(pod.at(list), given, pod.report) : undefined,
    settings: others.length > 0 ? Object.fromEntries(others) : undefined,
    containers: env.length > 0 ? { etcd: { env } } : undefined,
  };
}

/** A variable that is not a setting of etcd, such as GOMAXPROCS, stays one. */
function variableOf(variable: Fields): Readonly<Record<string, unknown>>[] {
  const given = variable.whole();
  if (typeof given.name !== 'string') return [];
  if (!new RegExp(owned.proxies).test(given.name)) return [given];
  variable.report.lost(
    variable.path,
    `${given.name}: etcd would connect to the other members through the proxy; write it into spec.containers.agent.env of the new EtcdCluster`,
  );
  return [];
}

export type Setting = string | number | boolean;

/** Returns an empty list if the variable cannot be carried over. */
function settingOf(variable: Fields, minor: string): [string, Setting][] {
  const name = variable.text('name')!;
  const value = variable.string('value') ?? '';
  const isReference = variable.has('valueFrom');
  variable.ignore('valueFrom');
  const key = /^ETCD_[A-Z0-9_]+$/.test(name) ? name.slice('ETCD_'.length).toLowerCase().replaceAll('_', '-') : '';
  const why = isReference ? 'settings cannot come from a Secret or ConfigMap; remove it' : whyNot(key, minor);
  const setting = why === undefined ? parseSetting(knownAs(key, minor)!, value) : undefined;
  if (setting !== undefined) return [[key, setting]];
  variable.report.lost(variable.path, `${name}: ${why ?? `etcd ${minor} does not accept its value; correct it`}`);
  return [];
}

function whyNot(key: string, minor: string): string | undefined {
  if (key === '') return 'is not a setting of etcd; remove it';
  const never = neverWritten(key);
  if (never) return `cannot be set, because ${never}; remove it`;
  if (agentKeys.includes(key)) return 'is set by the agent; remove it';
  const known = knownAs(key, minor);
  if (!known) return `etcd ${minor} has no such setting; remove it`;
  return ['list', 'map', 'gate'].includes(known.type)
    ? 'is not a plain value; write it into spec.settings of the new EtcdCluster'
    : undefined;
}

function knownAs(spelling: string, minor: string): ConfigKey | undefined {
  return Object.values(configKeys).find((key) => key.spellings[minor] === spelling);
}

function parseSetting({ type, values }: ConfigKey, text: string): Setting | undefined {
  if (type === 'bool') return /^(1|t|true)$/i.test(text) || (/^(0|f|false)$/i.test(text) ? false : undefined);
  if (type === 'int') return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  return text !== '' && (values ?? [text]).includes(text) ? text : undefined;
}

function tuningOf(field: string, settings: ReadonlyMap<string, Setting>, report: DocumentReport): Tuning {
  const number = (key: string) => {
    const value = settings.get(key);
    return typeof value === 'number' ? value : undefined;
  };
  const milliseconds = (key: string) => {
    const amount = number(key);
    return amount === undefined ? undefined : durationText(Duration.millis(amount));
  };
  return {
    heartbeatInterval: milliseconds('heartbeat-interval'),
    electionTimeout: milliseconds('election-timeout'),
    snapshotCount: number('snapshot-count'),
    autoCompaction: autoCompaction(
      field,
      settings.get('auto-compaction-mode'),
      settings.get('auto-compaction-retention'),
      report,
    ),
  };
}

export function autoCompaction(
  field: string,
  mode: Setting = 'periodic',
  retention: Setting = '0',
  report: DocumentReport,
): Tuning['autoCompaction'] | undefined {
  const text = String(retention);
  const count = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  if (count === 0) return { mode: 'periodic', retention: '0' };
  if (mode === 'revision' && count !== undefined) return { mode, retention: String(count) };
  // etcd reads a number without a unit as hours.
  const period = count === undefined ? parseDuration(text) : Duration.hours(count);
  if (mode === 'periodic' && period) return { mode, retention: goDuration(period) };
  report.lost(
    field,
    'ETCD_AUTO_COMPACTION_RETENTION: etcd does not accept its value in this mode; history older than an hour is compacted',
  );
  return undefined;
}
