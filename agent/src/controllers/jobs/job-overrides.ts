import { openingProblem } from '../../../../src/etcd/quota.ts';
import { finishedJob } from '../../../../src/lib/pods/finished-job.ts';
import type { JobSources } from '../../../../src/lib/pods/job-pod.ts';
import { usageError } from '../../lib/errors.ts';
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
  const lacks = opens && cluster ? (template: unknown) => openingProblem(template, cluster.spec) : undefined;
  const { job, problems, memory } = finishedJob(spec, sources, { lacks, own, ofCluster });
  const [problem = memory] = problems;
  if (problem) throw usageError(problem.text);
  return job;
}
