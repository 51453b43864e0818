import type { NamedCluster } from '../../backup/catalog/identity/folder.ts';
import { clusterLabels } from '../../backup/metrics/samples.ts';
import { writeMetrics } from '../../backup/metrics/textfile.ts';
import { sample } from '../../lib/metrics/sample.ts';
import type { CommandResult } from './result.ts';

export interface Run {
  readonly command: string;
  readonly named: NamedCluster;
  readonly result: CommandResult;
  /** Seconds by phase. */
  readonly phases: Readonly<Record<string, number>>;
}

/** Writes the samples of a command, and those that every run has. */
export function writeRun(file: string, { command, named, result, phases }: Run): Promise<void> {
  const labels = { command, ...clusterLabels(named) };
  const ended = Math.round(Date.now()) / 1000;
  const samples = [
    sample('etcd_backup_last_run_timestamp_seconds', labels, ended),
    sample('etcd_backup_last_run_exit_code', labels, result.exitCode),
    sample('etcd_backup_last_run_duration_seconds', labels, Math.round(process.uptime() * 1000) / 1000),
    ...Object.entries(phases).map(([phase, value]) =>
      sample('etcd_backup_last_run_phase_duration_seconds', { ...labels, phase }, value),
    ),
    ...(result.metrics ?? []),
  ];
  return writeMetrics(file, samples, labels);
}
