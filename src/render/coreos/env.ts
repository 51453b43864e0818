import type { Size } from 'cdk8s';
import type { EtcdClusterProps } from '../../cluster/etcd-cluster-props';
import { agentKeys, type ConfigKey, configKeys, neverWritten } from '../../cluster/settings/etcd-config-keys';
import type { EtcdVersion } from '../../etcd/etcd-version';
import type { Fields } from '../fields';
import { sizeOf } from '../size';
import { coreosTuning } from './tuning';

type EnvProps = Pick<EtcdClusterProps, 'settings' | 'tuning'> & { readonly quota?: Size };

/** The settings that have a prop of their own. */
const tuned = [
  'heartbeat-interval',
  'election-timeout',
  'snapshot-count',
  'auto-compaction-mode',
  'auto-compaction-retention',
];

/** `ETCD_MAX_REQUEST_BYTES` and the like set etcd's flags; the configuration file has the same keys. */
export function coreosEnv(pod: Fields, { minor }: EtcdVersion): EnvProps {
  const given = new Map(pod.objects('etcdEnv').flatMap((variable) => settingOf(variable, minor)));
  const quota = given.get('quota-backend-bytes');
  const others = [...given].filter(([key]) => key !== 'quota-backend-bytes' && !tuned.includes(key));
  return {
    quota: typeof quota === 'number' && quota > 0 ? sizeOf(quota) : undefined,
    tuning: tuned.some((key) => given.has(key)) ? coreosTuning(pod, given) : undefined,
    settings: others.length > 0 ? Object.fromEntries(others) : undefined,
  };
}

export type Setting = string | number | boolean;

/** None when it cannot be carried over. */
function settingOf(variable: Fields, minor: string): [string, Setting][] {
  const name = variable.required('name');
  const value = variable.string('value') ?? '';
  const isReference = variable.has('valueFrom');
  variable.ignore('valueFrom');
  const key = /^ETCD_[A-Z0-9_]+$/.test(name) ? name.slice('ETCD_'.length).toLowerCase().replaceAll('_', '-') : '';
  const why = isReference ? 'settings come from no Secret or ConfigMap; remove it' : whyNot(key, minor);
  const setting = why === undefined ? parseSetting(knownAs(key, minor)!, value) : undefined;
  if (setting !== undefined) return [[key, setting]];
  variable.report.lost(variable.path, `${name}: ${why ?? `its value is none that etcd ${minor} takes; correct it`}`);
  return [];
}

function whyNot(key: string, minor: string): string | undefined {
  if (key === '') return 'is no setting of etcd; remove it';
  const never = neverWritten(key);
  if (never) return `is never set, as ${never}; remove it`;
  if (agentKeys.includes(key)) return 'is set by the agent; remove it';
  const known = knownAs(key, minor);
  if (!known) return `etcd ${minor} has no such setting; remove it`;
  return ['list', 'map', 'gate'].includes(known.type) ? 'is set in TypeScript, with settings' : undefined;
}

function knownAs(spelling: string, minor: string): ConfigKey | undefined {
  return Object.values(configKeys).find((key) => key.spellings[minor] === spelling);
}

function parseSetting({ type, values }: ConfigKey, text: string): Setting | undefined {
  if (type === 'bool') return /^(1|t|true)$/i.test(text) || (/^(0|f|false)$/i.test(text) ? false : undefined);
  if (type === 'int') return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  return text !== '' && (values ?? [text]).includes(text) ? text : undefined;
}
