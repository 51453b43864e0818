import type { Op, RecordDoc, RestoreArgs } from './record.ts';

/** An EtcdRestore that exists. */
export interface Naming {
  readonly name: string;
  readonly uid: string;
  readonly phase?: string;
  /** Ids of snapshots that its spec or its status names. */
  readonly snapshots?: readonly string[];
}

/**
 * Ids, one per line: what a restore in flight or one that waits still needs, and what the EtcdRestores of restored data name. While
 * nobody knows which EtcdRestores exist, those of `before` stay.
 */
export function keptSnapshots(doc: RecordDoc, existing: readonly Naming[] | undefined, before = ''): string {
  const named = existing?.flatMap((each) => namedBy(doc, each)) ?? before.split('\n');
  const ids = [...inFlight(doc.op), ...named].filter((id) => isId.test(id));
  return [...new Set(ids)].map((id) => `${id}\n`).join('');
}

/** Backups refuse a list with anything else. */
const isId = /^[A-Za-z0-9][A-Za-z0-9_+-]*$/;

/** A record that an older release wrote, or that was rebuilt, has no ids: the EtcdRestore has. One that failed needs none any more. */
function namedBy({ restores }: RecordDoc, { name, uid, phase, snapshots = [] }: Naming): readonly string[] {
  const own = restores.find(({ id }) => id === name);
  const isOver = phase === 'Failed' && own?.uid !== uid;
  return [...(own?.snapshots ?? []), ...(isOver ? [] : snapshots)];
}

function inFlight(op: Op | undefined): string[] {
  if (op?.kind === 'Delete') return inFlight(op.suspended);
  return op?.kind === 'Restore' || op?.kind === 'Recover' ? snapshotsOf(op.args) : [];
}

export function snapshotsOf({ source, verified, safetyBackupId }: RestoreArgs): string[] {
  const { snapshotId } = (source ?? {}) as { snapshotId?: string };
  const ids = [snapshotId, verified?.id, safetyBackupId].filter((id) => id !== undefined);
  return [...new Set(ids)];
}
