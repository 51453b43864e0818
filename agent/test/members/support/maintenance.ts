import type { ReportedMaintenance } from '../../../src/protocol/cluster-status.ts';
import type { MaintenanceKind } from '../../../src/protocol/record.ts';
import type { LocalCluster } from '../../local/cluster.ts';

interface Asking {
  readonly ordinal?: number;
  /** ms; the time that the request names is as much earlier. */
  readonly ago?: number;
}

/** s. The restart of a reconciler takes long on a busy machine. */
const patience = 240;

/** Asks for it by spec.maintenance, and returns what the status says in the end. */
export async function asked(
  cluster: LocalCluster,
  kind: MaintenanceKind,
  { ordinal, ago = 0 }: Asking = {},
): Promise<ReportedMaintenance> {
  const at = new Date(Date.now() - ago).toISOString();
  const request = { at, ...(ordinal !== undefined && { ordinal }) };
  await cluster.apply({ spec: { maintenance: { ...cluster.spec.maintenance, [kind]: request } } });
  const reported = () => cluster.status().maintenance?.[kind];
  const isOver = (phase = '') => ['Completed', 'Failed'].includes(phase);
  await cluster.until(() => reported()?.at === at && isOver(reported()?.phase), `${kind} is over`, patience);
  return reported()!;
}
