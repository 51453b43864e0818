import type { Construct } from 'constructs';
import { durationProblem } from '../lib/duration';
import { labelProblems } from '../lib/labels';
import { offHostProblem } from '../stores/host-path';
import { choiceProblem } from '../validation/choice';
import { endpointsProblems } from '../validation/endpoints';
import { nameProblem, pathProblem, problemsOf } from '../validation/names';
import { keyTemplateProblem } from '../validation/object-key';
import { isForeign, otherNamespaceProblem, scheduleIds } from './cluster-kind';
import { Compression } from './compression';
import type { EtcdBackupProps } from './etcd-backup-props';
import type { IEtcdCluster } from './i-etcd-cluster';
import { jobIdentityProblems } from './job-identity';

/** All that is wrong with a backup, each with what to do about it. */
export function backupProblems(backup: Construct, name: string, props: EtcdBackupProps): string[] {
  const store = props.store?._definition();
  return [
    ...problemsOf(nameProblem('name', name, 52)),
    ...sourceProblems(backup, props),
    ...targetProblems(props),
    ...[...(store?.problems ?? []), ...problemsOf(store && offHostProblem(store))].map(
      (problem) => `store: ${problem}`,
    ),
    ...keyProblems(props),
    ...(props.encryption?._problems() ?? []),
    ...problemsOf(
      choiceProblem('compression', props.compression, Compression),
      durationProblem('dialTimeout', props.dialTimeout),
      durationProblem('timeout', props.timeout),
    ),
    ...labelProblems('labels', props.labels),
    ...jobIdentityProblems(props, store),
  ];
}

function sourceProblems(backup: Construct, { cluster, endpoints, tls, auth }: EtcdBackupProps): string[] {
  if (!cluster && !endpoints) return ['cluster: none given; name what to back up, by cluster or endpoints'];
  if (cluster && endpoints) return ['endpoints: excludes cluster, which has its own; remove one of them'];
  if (endpoints) {
    return [
      ...endpointsProblems(endpoints, tls !== undefined),
      ...(tls?._problems() ?? []),
      ...(auth?._problems() ?? []),
    ];
  }
  return problemsOf(
    tls ? 'tls: is for endpoints; remove it, as the cluster has its own' : undefined,
    auth ? 'auth: is for endpoints; remove it' : undefined,
    cluster && !isForeign(cluster) ? otherNamespaceProblem(backup, cluster) : undefined,
  );
}

function targetProblems({ cluster, schedule, store, encryption }: EtcdBackupProps): string[] {
  if (schedule !== undefined && store) return ['store: excludes schedule, which has its own; remove one of them'];
  if (schedule === undefined)
    return store ? [] : ['store: none given; say where the backup goes, by store or schedule'];
  if (!cluster || isForeign(cluster)) {
    return [`schedule: '${schedule}' can only be that of an EtcdCluster; give store instead`];
  }
  return problemsOf(
    scheduleProblem(cluster, schedule),
    encryption ? `encryption: is that of schedule '${schedule}'; remove it, or give store instead` : undefined,
  );
}

function scheduleProblem(cluster: IEtcdCluster, schedule: string): string | undefined {
  const known = scheduleIds(cluster);
  if (!known) return nameProblem('schedule', schedule, 52);
  if (known.includes(schedule)) return undefined;
  const which = known.length > 0 ? `use ${known.map((id) => `'${id}'`).join(' or ')}` : 'add it with addBackupSchedule';
  return `schedule: '${schedule}' is no backup schedule of '${cluster.clusterName}'; ${which}, or give store instead`;
}

function keyProblems({ key, prefix }: EtcdBackupProps): string[] {
  if (key !== undefined && prefix !== undefined) {
    return ["prefix: excludes key, which is the snapshot's whole name; remove one of them"];
  }
  return problemsOf(
    key === undefined ? undefined : keyTemplateProblem('key', key),
    prefix === undefined ? undefined : pathProblem('prefix', prefix),
  );
}
