import { openingProblem } from '../../../../src/etcd/quota.ts';
import { finishedJob } from '../../../../src/lib/pods/finished-job.ts';
import { type JobSources, jobSources } from '../../../../src/lib/pods/job-pod.ts';
import { backupResources } from '../../../../src/lib/pods/job-resources.ts';
import { sampleJob } from '../../../../src/lib/pods/sample-job.ts';
import { usageError } from '../../lib/errors.ts';
import type { EtcdBackupObject } from '../objects/backup-object.ts';
import type { EtcdClusterObject } from '../objects/cluster-object.ts';

/** What a Job does, and whose settings it has. */
export interface Finish {
  readonly cluster?: EtcdClusterObject | undefined;
  /** True if it opens the snapshot. */
  readonly opens: boolean;
  /** The field of the cluster that has the settings of the Job. Undefined: an EtcdBackup or an EtcdRestore, which reports its own. */
  readonly field?: string;
}

/**
 * Finishes the spec of a Job. Synthesis checks the same, but a resource can be changed without it. Without the memory to open its
 * snapshot a Job would be killed after all its work.
 *
 * @throws AgentError if the fields and overrides make a Job that cannot work, with the one that is to blame
 */
export function finished(spec: object, sources: JobSources, { cluster, opens, field }: Finish): object {
  const ofCluster = `EtcdCluster ${cluster?.metadata.name}: spec.`;
  const own = field === undefined ? 'spec.' : `${ofCluster}${field}.`;
  const { job, problems, memory } = finishedJob(spec, sources, { lacks: lackIn(opens, cluster), own, ofCluster });
  const [problem = memory] = problems;
  if (problem) throw usageError(problem.text);
  return job;
}

const lackIn = (opens: boolean, cluster: Pick<EtcdClusterObject, 'spec'> | undefined) =>
  opens && cluster ? (template: unknown) => openingProblem(template, cluster.spec) : undefined;

/** The mistake that an EtcdCluster makes in the Jobs of its operations, and in those of the EtcdBackups that name its schedules. */
export function jobProblem({ spec }: Pick<EtcdClusterObject, 'spec'>): string | undefined {
  const { schedules = [] } = spec.backup ?? {};
  const problems = (schedules.length > 0 ? schedules : [undefined]).flatMap((schedule) => {
    const sources = jobSources(schedule, spec, undefined);
    const job = sampleJob(sources, backupResources(schedule?.resources, schedule?.verify));
    const lacks = lackIn(schedule?.verify === 'open', { spec });
    const found = finishedJob(job, sources, { lacks, own: 'spec.', ofCluster: 'spec.' });
    return [...found.problems, ...(found.memory ? [found.memory] : [])];
  });
  return problems[0]?.text;
}

/** The mistake that an EtcdBackup makes in its Job, whatever its cluster and its schedule are. */
export function backupProblem({ spec }: Pick<EtcdBackupObject, 'spec'>): string | undefined {
  const sources = jobSources(undefined, undefined, undefined, spec);
  const job = sampleJob(sources, backupResources(spec.resources, undefined));
  return finishedJob(job, sources, { own: 'spec.', ofCluster: '', isPart: true }).problems[0]?.text;
}
