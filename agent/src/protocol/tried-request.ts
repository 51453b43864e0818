import type { ReportedMaintenance } from './cluster-status.ts';
import type { MaintenanceResult } from './record.ts';

/** The newest request of a kind that a status knows as tried. */
export function triedRequest(told: ReportedMaintenance | undefined): Readonly<MaintenanceResult> | undefined {
  if (!told || told.phase === 'Waiting') return told?.last;
  const { at, phase, message } = told;
  return { at, phase, message };
}
