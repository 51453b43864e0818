import type { Manifest } from '../../lib/manifest';
import { Quantity } from '../../resource/quantity';
import { fieldProblems } from '../../resource/resource-problems';
import type { BackupScheduleSpec, EtcdClusterSpec } from '../../resource/types';
import { gateResources } from './cluster-containers';

/** The gate restores with etcdutl, which needs as much memory as etcd. */
export function gateProblems(spec: EtcdClusterSpec): string[] {
  const made = { ...spec, resources: gateResources(spec) };
  const known = brokenRules(spec);
  return brokenRules(made)
    .filter((message) => !known.includes(message))
    .map((message) => `containers.gate.resources: ${message}`);
}

interface Container {
  readonly name: string;
  readonly resources?: { readonly limits?: { readonly memory?: string } };
}

interface Template {
  readonly spec: { readonly initContainers?: readonly Container[]; readonly containers: readonly Container[] };
}

/** The rules of the resource about limits of memory, for pods as overrides have made them. */
export function memoryProblems(
  spec: EtcdClusterSpec,
  schedules: readonly BackupScheduleSpec[],
  finished: ReadonlyMap<string, Manifest>,
): string[] {
  const { template } = finished.get('StatefulSet')!.spec as { readonly template: Template };
  const ofSchedule = ({ name }: BackupScheduleSpec) => {
    const cronJob = finished.get(`${name}/CronJob`)!.spec as {
      readonly jobTemplate: { readonly spec: { readonly template: Template } };
    };
    return cronJob.jobTemplate.spec.template;
  };
  const given = { ...spec, ...(schedules.length > 0 && { backup: { ...spec.backup, schedules } }) };
  const made = {
    ...given,
    // The gate restores with etcdutl, which needs as much as etcd.
    resources: leastLimit(template, ['etcd', 'gate']),
    ...(schedules.length > 0 && {
      backup: {
        ...spec.backup,
        schedules: schedules.map((each) => ({ ...each, resources: leastLimit(ofSchedule(each), ['backup']) })),
      },
    }),
  };
  const known = new Set(brokenRules(given));
  return brokenRules(made)
    .filter((message) => !known.has(message))
    .map((message) => `overrides: ${message}`);
}

const brokenRules = (spec: object): string[] =>
  fieldProblems('EtcdCluster', 'spec', spec)
    .filter(({ path }) => path === 'resources' || path === 'backup')
    .map(({ message }) => message);

/** Without a limit there is as much as the node has. */
function leastLimit({ spec }: Template, names: readonly string[]) {
  const all = [...(spec.initContainers ?? []), ...spec.containers].filter(({ name }) => names.includes(name));
  const limits = all.map(({ resources }) => resources?.limits?.memory ?? '').filter(Quantity.isValid);
  const [memory = '1Ei'] = limits.sort((a, b) => Quantity.of(a).compareTo(Quantity.of(b)));
  return { limits: { memory } };
}
