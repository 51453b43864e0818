import { memoryToOpen, openingProblem } from '../etcd/quota';
import { finishedJob, type JobPlace } from '../lib/pods/finished-job';
import { type JobSettings, type JobSources, jobSources, type NeighborTemplate } from '../lib/pods/job-pod';
import { backupResources, restoreResources } from '../lib/pods/job-resources';
import { sampleJob } from '../lib/pods/sample-job';
import type { EtcdBackupSpec, EtcdClusterSpec } from '../resource/types';
import { problemsOf } from '../validation/problems';
import { clusterSpecOf, isEtcdCluster } from './etcd-cluster-checks';
import type { IEtcdCluster } from './i-etcd-cluster';

/** What a Job has of an EtcdCluster of this app. */
interface Known {
  readonly cluster?: EtcdClusterSpec | undefined;
  /** The pods of its members. */
  readonly template?: NeighborTemplate;
}

/** Problems with the Job of an EtcdBackup as the reconciler will make it. Its cluster and its schedule report their own. */
export function backupJobProblems(cluster: IEtcdCluster | undefined, spec: EtcdBackupSpec): string[] {
  const known = knownOf(cluster);
  const schedule = known.cluster?.backup?.schedules?.find(({ name }) => name === spec.schedule);
  const sources = jobSources(schedule, known.cluster, known.template, spec);
  const resources = backupResources(spec.resources ?? schedule?.resources, schedule?.verify);
  const isWhole = known.cluster !== undefined && (schedule !== undefined || spec.schedule === undefined);
  const { problems, memory, idle } = finishedJob(sampleJob(sources, resources), sources, {
    ...placeOf(cluster, schedule?.verify === 'open' ? known : {}),
    isPart: !isWhole && spec.clusterName !== undefined,
  });
  const own = [...problems, ...(memory ? [memory] : [])].filter(({ isOwn }) => isOwn);
  return [...own.map(({ text }) => text), ...(isWhole ? idle.map(idleText) : [])];
}

/** Problems with the Job of an EtcdRestore as the reconciler will make it, also if the cluster gives it too little memory. */
export function restoreJobProblems(cluster: IEtcdCluster, spec: JobSettings): string[] {
  const known = knownOf(cluster);
  const sources = jobSources(undefined, known.cluster, known.template, spec);
  const { problems, memory, idle } = finishedJob(restoreJob(sources), sources, {
    ...placeOf(cluster, known),
    isPart: !known.cluster,
  });
  return [
    ...problems.filter(({ isOwn }) => isOwn).map(({ text }) => text),
    ...problemsOf(memory?.text),
    ...(known.cluster ? idle.map(idleText) : []),
  ];
}

/** Problem with the memory of the Job of a cluster's origin. */
export function originMemoryProblem(cluster: EtcdClusterSpec, template: NeighborTemplate): string | undefined {
  if (!cluster.origin) return undefined;
  const { resources } = cluster.origin;
  const sources = jobSources(undefined, cluster, template, resources && { resources });
  return finishedJob(restoreJob(sources), sources, { ...lackIn(cluster), own: 'origin.', ofCluster: '' }).memory?.text;
}

const idleText = (path: string): string =>
  `${path}: changes nothing, because the Job already has all of it; correct or remove it`;

const lackIn = (cluster: EtcdClusterSpec): Pick<JobPlace, 'lacks'> => ({
  lacks: (template) => openingProblem(template, cluster),
});

/** @param opened the cluster whose snapshot the Job opens */
const placeOf = (cluster: IEtcdCluster | undefined, opened: Known): JobPlace => ({
  ...(opened.cluster && lackIn(opened.cluster)),
  own: '',
  ofCluster: `EtcdCluster ${cluster?.clusterName}: spec.`,
});

function knownOf(cluster: IEtcdCluster | undefined): Known {
  return isEtcdCluster(cluster)
    ? { cluster: clusterSpecOf(cluster), template: cluster.statefulSet.toJson().spec.template }
    : {};
}

const restoreJob = (sources: JobSources): object =>
  sampleJob(sources, restoreResources(sources.own?.resources, sources.schedule, memoryToOpen(sources.cluster ?? {})));
