import type { Size } from 'cdk8s';
import type { EtcdVersion } from '../../etcd/etcd-version';
import { corruptCheckTime } from '../../lib/defaults';
import { type EtcdVolume, quotaBytes } from '../etcd-volume';
import { canonicalSettings } from './canonical-settings';
import type { Settings } from './etcd-config-keys';
import type { EtcdTuning } from './etcd-tuning';

export interface EtcdSettingsProps {
  readonly version: EtcdVersion;
  readonly volume: EtcdVolume;
  readonly quota?: Size;
  readonly tuning: EtcdTuning;
  /** In the spelling of the version. */
  readonly settings?: Settings;
}

/** The settings of a cluster by canonical key, which the agent translates for the etcd that it finds beside it. */
export interface EtcdSettings {
  readonly settings: { readonly [key: string]: unknown };
  readonly problems: readonly string[];
}

/** Which prop says what is no business of `settings`. */
const properties: ReadonlyMap<string, string> = new Map([
  ['quota-backend-bytes', 'quota'],
  ['heartbeat-interval', 'tuning'],
  ['election-timeout', 'tuning'],
  ['snapshot-count', 'tuning'],
  ['auto-compaction-mode', 'tuning'],
  ['auto-compaction-retention', 'tuning'],
]);

export function etcdSettings({ version, volume, quota, tuning, settings = {} }: EtcdSettingsProps): EtcdSettings {
  const taken = Object.keys(settings).filter((key) => properties.has(key));
  const rest = Object.fromEntries(Object.entries(settings).filter(([key]) => !properties.has(key)));
  const given = canonicalSettings(rest, version.minor);
  return {
    settings: {
      'quota-backend-bytes': quotaBytes(volume, quota),
      ...tuning._settings(),
      ...corruptionChecks,
      ...given.settings,
    },
    problems: [
      ...taken.map((key) => `settings: '${key}' is set by the property ${properties.get(key)}; use that`),
      ...given.problems,
    ],
  };
}

/** etcd has none of them on by itself. */
const corruptionChecks = { 'corrupt-check-time': corruptCheckTime, CompactHashCheck: true, InitialCorruptCheck: true };
