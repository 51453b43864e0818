import { ownedProblem } from '../../../src/overrides/owned-fields.ts';
import { changes, merged, patchProblem, shapes } from '../../../src/overrides/strategic-merge.ts';
import type { BackupOverrideSpec } from '../../../src/resource/types.ts';
import { usageError } from '../lib/errors.ts';
import type { JobSources } from './cluster/jobs/job-pod.ts';
import type { EtcdClusterObject } from './cluster/kubernetes/cluster-object.ts';

const shape = shapes.PodTemplate;

/**
 * Applies the overrides of a cluster, then those of a schedule and of the resource itself, to the pods of a Job. Synthesis checks the same of the CronJobs, but
 * a resource can be changed without it.
 *
 * @throws AgentError if an override changes what the Job needs
 */
export function withOverrides(
  spec: object,
  cluster: EtcdClusterObject | undefined,
  { schedule, own }: JobSources,
): object {
  const sources = [
    { path: 'spec.overrides', overrides: cluster?.spec.overrides },
    { path: `spec.backup.schedules[${schedule?.name}].overrides`, overrides: schedule?.overrides },
    { path: 'spec.overrides', overrides: own?.overrides },
  ];
  let { template }: { template?: unknown } = spec;
  for (const { path, overrides = [] } of sources) {
    for (const [index, override] of overrides.entries())
      if (override.target === target) template = patched(template, override.patch, `${path}[${index}].patch`);
  }
  return { ...spec, template };
}

const target: BackupOverrideSpec['target'] = 'BackupPods';

function patched(before: unknown, patch: unknown, path: string): unknown {
  const wrong = patchProblem(patch, shape, path);
  if (wrong) throw usageError(wrong);
  const after = merged(before, patch, shape);
  const owned = ownedProblem(target, changes(before, after, shape), path);
  if (owned) throw usageError(owned);
  return after;
}
