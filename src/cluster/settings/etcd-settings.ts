import {
  agentKeys,
  type ConfigKey,
  type ConfigSettings,
  configKey,
  configKeys,
  neverWritten,
  valueProblem,
} from '../../etcd/etcd-config-keys';
import type { EtcdVersion } from '../../etcd/etcd-version';
import { corruptCheckTime, warningApplyDuration } from '../../lib/defaults';
import type { EtcdClusterSpec } from '../../resource/types';
import { tuningSettings } from './etcd-tuning';

export interface EtcdSettingsProps {
  readonly version: EtcdVersion;
  readonly quotaBytes: number;
  readonly tuning: EtcdClusterSpec['tuning'];
  /** Settings of the user, in the spelling of the version. */
  readonly settings: ConfigSettings;
}

/** Settings of a cluster by canonical key. The agent translates them for the version of etcd in its pod. */
export interface EtcdSettings {
  readonly settings: { readonly [key: string]: unknown };
  readonly problems: readonly string[];
}

/** Keys that are not allowed in `settings`, with the property that sets them. */
const properties: ReadonlyMap<string, string> = new Map([
  ['quota-backend-bytes', 'quota'],
  ['heartbeat-interval', 'tuning'],
  ['election-timeout', 'tuning'],
  ['snapshot-count', 'tuning'],
  ['auto-compaction-mode', 'tuning'],
  ['auto-compaction-retention', 'tuning'],
]);

export function etcdSettings({ version, quotaBytes, tuning, settings }: EtcdSettingsProps): EtcdSettings {
  const taken = Object.keys(settings).filter((key) => properties.has(key));
  const rest = Object.fromEntries(Object.entries(settings).filter(([key]) => !properties.has(key)));
  const given = canonicalSettings(rest, version.minor);
  return {
    settings: {
      'quota-backend-bytes': quotaBytes,
      ...tuningSettings(tuning),
      ...corruptionChecks,
      'warning-apply-duration': warningApplyDuration,
      ...given.settings,
    },
    problems: [
      ...taken.map((key) => `settings: '${key}' is set by the property ${properties.get(key)}; use that property`),
      ...given.problems,
    ],
  };
}

/** Checks that etcd does not enable by itself. */
const corruptionChecks = { 'corrupt-check-time': corruptCheckTime, CompactHashCheck: true, InitialCorruptCheck: true };

type Found = readonly [key: string, value: unknown];

/** Reads settings in the spelling of this minor version's configuration file. */
function canonicalSettings(given: ConfigSettings, minor: string): EtcdSettings {
  const found: Found[] = [];
  const problems: string[] = [];
  for (const [spelling, value] of Object.entries(given)) {
    const result = spelling === 'feature-gates' ? readGates(value, minor) : readSetting(spelling, value, minor);
    if (typeof result === 'string') problems.push(`settings: ${result}`);
    else found.push(...result);
  }
  return { settings: Object.fromEntries(found), problems };
}

function readSetting(spelling: string, value: unknown, minor: string): Found[] | string {
  const never = neverWritten(spelling);
  if (never) return `'${spelling}' cannot be set, because ${never}; remove it`;
  if (agentKeys.includes(spelling)) return `'${spelling}' is set by the agent for each member; remove it`;
  const key = Object.keys(configKeys).find((candidate) => configKeys[candidate]!.spellings[minor] === spelling);
  if (key === undefined) return unknownProblem(spelling, minor);
  return valueProblem(`'${spelling}'`, configKeys[key]!, value) ?? [[key, value]];
}

function readGates(value: unknown, minor: string): Found[] | string {
  const example = "'InitialCorruptCheck=true,LeaseCheckpoint=false'";
  if (minor < '3.6')
    return `etcd ${minor} has no 'feature-gates'; write its own keys, such as 'experimental-enable-lease-checkpoint'`;
  if (typeof value !== 'string')
    return `'feature-gates' is ${JSON.stringify(value)}; write one string, such as ${example}`;
  const gates = value.split(',').map((gate) => /^\s*(\w+)=(true|false)\s*$/.exec(gate));
  const odd = gates.findIndex((gate) => !gate);
  if (odd >= 0) return `'feature-gates' has '${value.split(',')[odd]}'; write it like ${example}`;
  const unknown = gates.find((gate) => !isGate(gate![1]!, minor));
  if (unknown)
    return `'feature-gates': etcd ${minor} has no gate '${unknown[1]}' and would not start with it; remove it`;
  return gates.map((gate) => [gate![1]!, gate![2] === 'true'] as const);
}

function isGate(name: string, minor: string): boolean {
  const key = configKey(name);
  return key?.type === 'gate' && key.minors.includes(minor);
}

/**
 * Problem with an unknown key. It shows the right spelling if the key is that of another minor version, a flag or an
 * environment variable.
 */
function unknownProblem(spelling: string, minor: string): string {
  const plain = spelling
    .replace(/^--/, '')
    .replace(/^ETCD_/, '')
    .replaceAll('_', '-')
    .toLowerCase();
  const key = Object.keys(configKeys).find((candidate) => isNamed(candidate, configKeys[candidate]!, plain));
  if (key === undefined) return `'${spelling}' is not a key of etcd's configuration; check it for typing errors`;
  const here = configKeys[key]!.spellings[minor];
  if (here !== undefined) return `'${spelling}' is '${here}' in etcd ${minor}; write that instead`;
  if (isGate(key, minor))
    return `'${spelling}' is a feature gate in etcd ${minor}; write 'feature-gates': '${key}=true' or false`;
  return `'${spelling}' is not in etcd ${minor}, which would silently ignore it; remove it`;
}

const isNamed = (key: string, { spellings }: ConfigKey, plain: string) =>
  key.toLowerCase() === plain || Object.values(spellings).includes(plain);
