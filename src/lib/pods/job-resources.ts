import { amountOf, larger } from '../../resource/quantity.ts';
import type { BackupScheduleSpec, ResourcesSpec } from '../../resource/types.ts';
import { type BackupPodSpec, completeResources, defaultResources } from '../backup-pod.ts';

type Resources = BackupPodSpec['resources'];

/** The resources of a Job that takes a backup, with those of its schedule if it has one. */
export const backupResources = (given: ResourcesSpec = {}, verify: string | undefined): Resources =>
  completeResources(given, defaultResources({ opens: verify === 'open', cpuLimit: '1' }));

/**
 * The resources of a Job that opens a snapshot: those that were asked for, else the usual ones, with as much memory as the quota
 * needs. A schedule that has more memory has it for a large database, which the snapshot contains.
 *
 * @param needed the memory that the quota needs
 */
export function restoreResources(
  given: ResourcesSpec | undefined,
  schedule: BackupScheduleSpec | undefined,
  needed: string,
): Resources {
  const least = defaultResources({ opens: true, cpuLimit: '1' });
  if (given) return completeResources(given, least);
  const usual = { ...least, limits: { ...least.limits, memory: larger(least.limits.memory, needed) } };
  const ofSchedule = completeResources(schedule?.resources ?? {}, usual);
  return memoryOf(ofSchedule) > memoryOf(usual) ? ofSchedule : usual;
}

const memoryOf = ({ limits }: Resources): number => amountOf(limits.memory) ?? 0;
