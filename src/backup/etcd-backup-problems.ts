import type { Construct } from 'constructs';
import { labelProblems } from '../lib/labels';
import { podProblems } from '../lib/pod-problems';
import { jobAccountOf } from '../lib/pods/job-account';
import { below } from '../resource/prop-problems';
import type { EtcdBackupSpec } from '../resource/types';
import { offHostProblem } from '../stores/host-path';
import { derivedName } from '../validation/derived-name';
import { nameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import { encryptionProblems } from './encryption';
import type { EtcdBackupProps } from './etcd-backup-props';
import {
  isExistingEtcd,
  isMisnamed,
  otherNamespaceProblem,
  reconcilerAccountProblem,
  scheduleIds,
} from './etcd-cluster-checks';
import type { IEtcdCluster } from './i-etcd-cluster';
import { jobIdentityProblems, jobPropNames } from './job-identity';
import { backupJobProblems } from './job-problems';

/** Problems with the properties of an EtcdBackup that its resource does not show, each with its remedy. */
export function backupProblems(
  backup: Construct,
  name: string,
  props: EtcdBackupProps,
  spec: EtcdBackupSpec,
): string[] {
  const store = props.store?._definition();
  return [
    ...problemsOf(props.name === undefined && isMisnamed(props.cluster) ? undefined : nameProblem('name', name, 52)),
    ...sourceProblems(backup, props),
    ...problemsOf(scheduleProblem(props.cluster, props.schedule ?? spec.schedule)),
    ...[...(store?.problems ?? []), ...problemsOf(store && offHostProblem(store))].map(
      (problem) => `store: ${problem}`,
    ),
    ...encryptionProblems(spec.encryption),
    ...labelProblems('labels', props.labels),
    ...podProblems(props),
    ...jobIdentityProblems(spec.image, spec.store),
    ...problemsOf(reconcilerAccountProblem(props.cluster, jobAccountOf('backup', name, spec))),
    ...backupJobProblems(props.cluster, spec),
  ];
}

/** Properties with other names than the fields. */
export const backupPropNames = {
  'spec.clusterName': 'cluster',
  'spec.timeouts.dial': 'dialTimeout',
  'spec.timeouts.total': 'timeout',
  ...below('spec', jobPropNames),
};

function sourceProblems(backup: Construct, { cluster, endpoints, tls, auth }: EtcdBackupProps): string[] {
  if (!cluster) return [...(tls?._problems() ?? []), ...(auth?._problems() ?? [])];
  if (!isExistingEtcd(cluster)) return problemsOf(otherNamespaceProblem(backup, cluster));
  const given = Object.entries({ endpoints, tls, auth }).filter(([, value]) => value !== undefined);
  return given.map(([prop]) => `${prop}: cannot be combined with cluster, which has its own; remove one of them`);
}

function scheduleProblem(cluster: IEtcdCluster | undefined, schedule: string | undefined): string | undefined {
  if (!cluster || schedule === undefined) return undefined;
  const known = scheduleIds(cluster);
  if (!known) return nameProblem('schedule', derivedName(schedule), 52);
  if (known.some((id) => derivedName(id) === derivedName(schedule))) return undefined;
  const which = known.length > 0 ? `use ${known.map((id) => `'${id}'`).join(' or ')}` : 'add it with addBackupSchedule';
  return `schedule: '${schedule}' is not a backup schedule of '${cluster.clusterName}'; ${which}, or give store instead`;
}
