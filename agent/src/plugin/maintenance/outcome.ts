import type { ReportedMaintenance } from '../../protocol/cluster-status.ts';
import type { MaintenanceKind } from '../../protocol/record.ts';
import { triedRequest } from '../../protocol/tried-request.ts';
import type { ClusterObject } from '../objects.ts';

export const timeOf = (at: string | undefined): number => Date.parse(at ?? '') || 0;

/** Whether two texts are the same time. */
const isSame = (a: string | undefined, b: string | undefined): boolean => timeOf(a) > 0 && timeOf(a) === timeOf(b);

/** The newest request that was tried. The status may still show one that waited and was taken back. */
const tried = ({ status }: ClusterObject, kind: MaintenanceKind): ReportedMaintenance | undefined =>
  triedRequest(status?.maintenance?.[kind]);

/** The newest request, and what came of it. */
export function newest(cluster: ClusterObject, kind: MaintenanceKind): ReportedMaintenance | undefined {
  const { at } = cluster.spec.maintenance?.[kind] ?? {};
  const before = tried(cluster, kind);
  return at !== undefined && timeOf(at) > timeOf(before?.at) ? waiting(cluster, kind, at) : before;
}

/** What came of the request of this time. One that nothing will come of has failed. */
export function outcomeOf(cluster: ClusterObject, kind: MaintenanceKind, at: string): ReportedMaintenance {
  const before = tried(cluster, kind);
  if (before && isSame(before.at, at)) return before;
  const failed = (message: string): ReportedMaintenance => ({ at, phase: 'Failed', message });
  const asked = cluster.spec.maintenance?.[kind]?.at;
  if (asked === undefined) return failed('somebody has taken the request back');
  if (!isSame(asked, at)) return failed(`somebody has replaced the request by that of ${asked}`);
  if (timeOf(before?.at) > timeOf(at)) return failed(`the request of ${before?.at} came first; run the command again`);
  return waiting(cluster, kind, at);
}

function waiting({ status }: ClusterObject, kind: MaintenanceKind, at: string): ReportedMaintenance {
  const told = status?.maintenance?.[kind];
  return told && isSame(told.at, at) ? told : { at, phase: 'Waiting', message: 'the reconciler has not seen it yet' };
}

/** The reconciler has seen a spec with this request, and the status does not have it: it is too old for such requests. */
export function isUnknown(cluster: ClusterObject, kind: MaintenanceKind, at: string, generation: number): boolean {
  const { observedGeneration = 0, maintenance } = cluster.status ?? {};
  return observedGeneration >= generation && timeOf(maintenance?.[kind]?.at) < timeOf(at);
}
