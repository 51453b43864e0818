import type { Manifest } from '../../lib/manifest';
import { limitOf } from '../../lib/pods/limit-of';
import { fieldProblems } from '../../resource/resource-problems';
import type { BackupScheduleSpec, EtcdClusterSpec } from '../../resource/types';

/** The rules of the resource about limits of memory, for pods as overrides have made them. */
export function memoryProblems(
  spec: EtcdClusterSpec,
  schedules: readonly BackupScheduleSpec[],
  finished: (count?: number) => ReadonlyMap<string, Manifest>,
): string[] {
  const found = problemsIn(spec, schedules, finished());
  if (found.length === 0) return [];
  // The first override with which there is one; none: it is an override of the schedule itself.
  const index = (spec.overrides ?? []).findIndex((_, at) => problemsIn(spec, schedules, finished(at + 1)).length > 0);
  const isOfSchedule = problemsIn(spec, schedules, finished(0)).length > 0;
  return found.map((problem) => `overrides${isOfSchedule ? '' : `[${index}].patch`}: ${problem}`);
}

function problemsIn(
  spec: EtcdClusterSpec,
  schedules: readonly BackupScheduleSpec[],
  finished: ReadonlyMap<string, Manifest>,
): string[] {
  const { template } = finished.get('StatefulSet')!.spec as { readonly template: unknown };
  const ofSchedule = ({ name }: BackupScheduleSpec) => {
    const cronJob = finished.get(`${name}/CronJob`)!.spec as {
      readonly jobTemplate: { readonly spec: { readonly template: unknown } };
    };
    return cronJob.jobTemplate.spec.template;
  };
  const given = { ...spec, ...(schedules.length > 0 && { backup: { ...spec.backup, schedules } }) };
  const known = new Set(brokenRules(given));
  // Without a limit there is as much as the node has.
  const withLimit = (template: unknown, name: string) => ({
    resources: { limits: { memory: limitOf(template, name, 'memory') ?? '1Ei' } },
  });
  // The gate restores with etcdutl, which needs as much as etcd.
  const members = ['etcd', 'gate'].map(
    (name) => [`container ${name}`, { ...given, ...withLimit(template, name) }] as const,
  );
  const backups = schedules.map(
    (each) =>
      [
        `schedule ${each.name}`,
        { ...given, backup: { schedules: [{ ...each, ...withLimit(ofSchedule(each), 'backup') }] } },
      ] as const,
  );
  return [...members, ...backups].flatMap(([where, made]) =>
    brokenRules(made).flatMap((message) => (known.has(message) ? [] : [`${where}: ${message}`])),
  );
}

const brokenRules = (spec: object): string[] =>
  fieldProblems('EtcdCluster', 'spec', spec)
    .filter(({ path }) => path === 'resources' || path === 'backup')
    .map(({ message }) => message);
