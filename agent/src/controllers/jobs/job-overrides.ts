import { kubernetesTypes } from '../../../../src/overrides/kubernetes-types.ts';
import { ownedProblem, type Pods, podFault } from '../../../../src/overrides/owned-fields.ts';
import { changes, merged, patchProblem, pathOf, shapeOf } from '../../../../src/overrides/strategic-merge.ts';
import { usageError } from '../../lib/errors.ts';
import type { EtcdClusterObject } from '../objects/cluster-object.ts';
import type { JobSources } from './job-pod.ts';

const shape = shapeOf(kubernetesTypes, 'PodTemplateSpec');
const pods: Pods = { target: 'BackupPods' };

/**
 * Applies the overrides of a cluster, then those of a schedule and of the resource itself, to the pods of a Job. Synthesis checks the same of the CronJobs, but
 * a resource can be changed without it.
 *
 * @throws AgentError if an override changes what the Job needs, or the pods cannot be created
 */
export function withOverrides(
  spec: object,
  cluster: EtcdClusterObject | undefined,
  { schedule, own }: JobSources,
): object {
  // An EtcdBackup and an EtcdRestore report these as their own.
  const ofCluster = `EtcdCluster ${cluster?.metadata.name}: spec`;
  const place = `${ofCluster}.backup.schedules[${schedule?.name}]`;
  const sources = [
    { path: `${ofCluster}.overrides`, overrides: cluster?.spec.overrides },
    { path: `${place}.overrides`, overrides: schedule?.overrides },
    { path: 'spec.overrides', overrides: own?.overrides },
  ];
  let { template }: { template?: unknown } = spec;
  const fault = podFault(template, pods);
  const isOwn = fault && Object.hasOwn(own ?? {}, /^spec[.](\w+)/.exec(fault.at)?.[1] ?? '');
  if (fault) throw usageError(`${schedule && !isOwn ? `${place}: ` : ''}${fault.at}: ${fault.says}`);
  for (const { path, overrides = [] } of sources) {
    for (const [index, override] of overrides.entries())
      if (override.target === pods.target) template = patched(template, override.patch, `${path}[${index}].patch`);
  }
  return { ...spec, template };
}

function patched(before: unknown, patch: unknown, path: string): unknown {
  const wrong = patchProblem(patch, shape, path);
  if (wrong) throw usageError(wrong);
  const after = merged(before, patch, shape);
  const owned = ownedProblem(pods, changes(before, after, shape), (steps) => `${path}.${pathOf(steps)}`);
  if (owned) throw usageError(owned);
  refuseFault(after, `${path}.`);
  return after;
}

function refuseFault(template: unknown, path: string): void {
  const fault = podFault(template, pods);
  if (fault) throw usageError(`${path}${fault.at}: ${fault.says}`);
}
