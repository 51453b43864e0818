import type { Construct } from 'constructs';
import { durationProblem } from '../lib/duration';
import { labelProblems } from '../lib/labels';
import { offHostProblem } from '../stores/host-path';
import { derivedName } from '../validation/derived-name';
import { endpointsProblems } from '../validation/endpoints';
import { nameProblem } from '../validation/names';
import { choiceProblem, problemsOf } from '../validation/problems';
import { keyTemplateProblem, pathProblem } from '../validation/store-paths';
import { Compression } from './compression';
import type { EtcdBackupProps } from './etcd-backup-props';
import { isExistingEtcd, isMisnamed, otherNamespaceProblem, scheduleIds } from './etcd-cluster-checks';
import type { IEtcdCluster } from './i-etcd-cluster';
import { jobIdentityProblems } from './job-identity';

/** Problems with the properties of an EtcdBackup, each with its remedy. */
export function backupProblems(backup: Construct, name: string, props: EtcdBackupProps): string[] {
  const store = props.store?._definition();
  return [
    ...problemsOf(props.name === undefined && isMisnamed(props.cluster) ? undefined : nameProblem('name', name, 52)),
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
  if (!cluster && !endpoints) return ['cluster: is missing; give cluster or endpoints'];
  if (cluster && endpoints)
    return ['endpoints: cannot be combined with cluster, which has its own endpoints; remove one of them'];
  if (endpoints) {
    return [
      ...endpointsProblems(endpoints, tls !== undefined),
      ...(tls?._problems() ?? []),
      ...(auth?._problems() ?? []),
    ];
  }
  return problemsOf(
    tls ? 'tls: is only for endpoints; remove it, because the cluster has its own' : undefined,
    auth ? 'auth: is only for endpoints; remove it' : undefined,
    cluster && !isExistingEtcd(cluster) ? otherNamespaceProblem(backup, cluster) : undefined,
  );
}

function targetProblems({ cluster, schedule, store, encryption }: EtcdBackupProps): string[] {
  if (schedule !== undefined && store)
    return ['store: cannot be combined with schedule, which has its own stores; remove one of them'];
  if (schedule === undefined) return store ? [] : ['store: is missing; give store or schedule'];
  if (!cluster || isExistingEtcd(cluster)) {
    return [`schedule: '${schedule}' needs an EtcdCluster, which has schedules; give store instead`];
  }
  return problemsOf(
    scheduleProblem(cluster, schedule),
    encryption
      ? `encryption: is set by schedule '${schedule}'; remove it, or give store instead of schedule`
      : undefined,
  );
}

function scheduleProblem(cluster: IEtcdCluster, schedule: string): string | undefined {
  const known = scheduleIds(cluster);
  if (!known) return nameProblem('schedule', derivedName(schedule), 52);
  if (known.some((id) => derivedName(id) === derivedName(schedule))) return undefined;
  const which = known.length > 0 ? `use ${known.map((id) => `'${id}'`).join(' or ')}` : 'add it with addBackupSchedule';
  return `schedule: '${schedule}' is not a backup schedule of '${cluster.clusterName}'; ${which}, or give store instead`;
}

function keyProblems({ key, prefix }: EtcdBackupProps): string[] {
  if (key !== undefined && prefix !== undefined) {
    return ["prefix: cannot be combined with key, which is the snapshot's complete name; remove one of them"];
  }
  return problemsOf(
    key === undefined ? undefined : keyTemplateProblem('key', key),
    prefix === undefined ? undefined : pathProblem('prefix', prefix),
  );
}
