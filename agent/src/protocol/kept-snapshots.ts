import type { Op, RecordDoc, RestoreArgs } from './record.ts';

/** Ids, one per line: what a restore in flight still needs, and what the EtcdRestores of restored data name. */
export function keptSnapshots({ op, restores }: RecordDoc): string {
  const ids = [...inFlight(op), ...restores.flatMap(({ snapshots = [] }) => snapshots)];
  return [...new Set(ids)].map((id) => `${id}\n`).join('');
}

function inFlight(op: Op | undefined): string[] {
  if (op?.kind === 'Delete') return inFlight(op.suspended);
  return op?.kind === 'Restore' || op?.kind === 'Recover' ? snapshotsOf(op.args) : [];
}

export const snapshotsOf = ({ verified, safetyBackupId }: RestoreArgs): string[] =>
  [verified?.id, safetyBackupId].filter((id) => id !== undefined);
