import type { ClusterStatus, ReportedMaintenance } from '../../../protocol/cluster-status.ts';
import type { MaintenanceKind, MaintenanceResult } from '../../../protocol/record.ts';
import { triedRequest } from '../../../protocol/tried-request.ts';
import type { Cluster, MaintenanceRequest } from '../../port/observed.ts';
import type { View } from '../engine/view.ts';
import { lacking } from '../facts/up-to-date.ts';
import { moreUrgent } from '../operations/maintenance/defragment.ts';
import { due, isInFlight, isLate, late, newest, untried } from '../operations/maintenance/request.ts';

/** What the status says of the requests. */
export function maintenanceOf(v: View): ClusterStatus['maintenance'] {
  const found = { defragment: reported(v, 'defragment'), moveLeader: reported(v, 'moveLeader') };
  return found.defragment || found.moveLeader ? found : undefined;
}

function reported(v: View, kind: MaintenanceKind): ReportedMaintenance | undefined {
  const request = untried(v, kind);
  const result = newest(v, kind);
  // It never begins, although a hold may keep the record from saying so.
  if (request && isLate(v, request)) return { at: request.at, phase: 'Failed', message: late };
  if (request) return waiting(request, whyWaiting(v, kind), result);
  const isOver = result?.phase !== 'Running' || isInFlight(v, kind);
  return isOver ? result : { ...result, phase: 'Failed', message: 'it was interrupted; its result is not known' };
}

/** The last request is kept, because the record may be lost meanwhile. */
const waiting = ({ at }: MaintenanceRequest, message: string, last?: Readonly<MaintenanceResult>) => ({
  ...{ at, phase: 'Waiting' as const, message },
  last,
});

/** The same while the record is not known. */
export function maintenanceWithoutRecord({ spec, status }: Cluster): ClusterStatus['maintenance'] {
  const found = { ...status.maintenance };
  for (const kind of ['defragment', 'moveLeader'] as const) {
    const request = spec.maintenance?.[kind];
    const last = triedRequest(found[kind]);
    if (request && Date.parse(request.at) > (Date.parse(last?.at ?? '') || 0))
      found[kind] = waiting(request, 'the record of the cluster is not known', last);
  }
  return Object.keys(found).length > 0 ? found : undefined;
}

function whyWaiting(v: View, kind: MaintenanceKind): string {
  if (!due(v, kind)) return 'its time has not come';
  if (v.spec.paused) return 'the cluster is paused';
  const { op } = v.record;
  if (op) return `operation ${op.kind} is in flight`;
  const differs = lacking(v);
  if (differs !== undefined) return `the cluster is not ready: ${differs}`;
  const urgent = kind === 'defragment' ? moreUrgent(v) : undefined;
  return urgent === undefined ? 'another change comes first' : `it waits: ${urgent}`;
}
