import { Duration } from 'cdk8s';
import { AutoCompaction } from '../../cluster/settings/auto-compaction';
import { EtcdTuning } from '../../cluster/settings/etcd-tuning';
import { parseDuration } from '../duration-field';
import type { Fields } from '../fields';
import type { Setting } from './env';

/** The settings of etcd that `EtcdTuning` has. */
export function coreosTuning(pod: Fields, settings: ReadonlyMap<string, Setting>): EtcdTuning {
  const number = (key: string) => {
    const value = settings.get(key);
    return typeof value === 'number' ? value : undefined;
  };
  const milliseconds = (key: string) => {
    const amount = number(key);
    return amount === undefined ? undefined : Duration.millis(amount);
  };
  return EtcdTuning.of({
    heartbeatInterval: milliseconds('heartbeat-interval'),
    electionTimeout: milliseconds('election-timeout'),
    snapshotCount: number('snapshot-count'),
    autoCompaction: autoCompaction(
      pod,
      settings.get('auto-compaction-mode'),
      settings.get('auto-compaction-retention'),
    ),
  });
}

function autoCompaction(pod: Fields, mode: Setting = 'periodic', retention: Setting = '0'): AutoCompaction | undefined {
  const text = String(retention);
  const count = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  if (count === 0) return AutoCompaction.disabled();
  if (mode === 'revision' && count !== undefined) return AutoCompaction.revisions(count);
  // To etcd a number alone is one of hours.
  const period = count === undefined ? parseDuration(text) : Duration.hours(count);
  if (mode === 'periodic' && period) return AutoCompaction.periodic(period);
  pod.report.lost(
    pod.at('etcdEnv'),
    'ETCD_AUTO_COMPACTION_RETENTION: its value is none that etcd takes in this mode; history older than an hour is forgotten',
  );
  return undefined;
}
