import type { RecordDoc, RemoveOp } from '../../../src/protocol/record.ts';

/** A line of the log of all versions of the record. */
export type Logged = { readonly doc: RecordDoc } | { readonly removed: true };

/** Invariants over all versions of the record (protocol.md: ConsecutiveRevs, OneSeedPerEpoch, FreshTokenPerEpoch, IntentFirst). */
export function recordIsSound(all: readonly Logged[]): string[] {
  const log = all.filter((entry, i) => !isUnwritten(entry, all[i + 1]));
  const docs = log.flatMap((entry) => ('doc' in entry ? [entry.doc] : []));
  return [...revsRise(log), ...oneSeedPerEpoch(docs), ...tokensAreFresh(docs), ...removalsWereMeant(docs)];
}

/** A version is logged, then written: the writer may be killed between the two, and its successor writes that version. */
const isUnwritten = (entry: Logged, next: Logged | undefined): boolean =>
  next !== undefined && 'doc' in entry && 'doc' in next && entry.doc.rev === next.doc.rev;

/** A deleted record may begin again. */
function revsRise(log: readonly Logged[]): string[] {
  return log.flatMap((entry, i) => {
    const before = log[i - 1];
    if (!before || !('doc' in entry) || !('doc' in before) || entry.doc.rev === before.doc.rev + 1) return [];
    return [`ConsecutiveRevs: record revision ${entry.doc.rev} follows ${before.doc.rev}`];
  });
}

const seeds = (doc: RecordDoc) => Object.values(doc.permits).filter(({ mode }) => mode === 'new' || mode === 'restore');

function oneSeedPerEpoch(docs: readonly RecordDoc[]): string[] {
  const volumeIds = new Map<string, Set<string>>();
  const wrong = new Set<string>();
  for (const doc of docs) {
    for (const { epoch, volumeId, ordinal, mode } of seeds(doc)) {
      if (ordinal !== 0) wrong.add(`OneSeedPerEpoch: a ${mode} permit for ordinal ${ordinal}`);
      const key = `${doc.clusterUid} ${epoch}`;
      volumeIds.set(key, (volumeIds.get(key) ?? new Set()).add(volumeId));
    }
  }
  for (const [epoch, of] of volumeIds)
    if (of.size > 1) wrong.add(`OneSeedPerEpoch: epoch ${epoch} has seed permits for ${of.size} volumes`);
  return [...wrong];
}

function tokensAreFresh(docs: readonly RecordDoc[]): string[] {
  const epochs = new Map<string, Set<string>>();
  for (const { epoch, token, clusterUid } of docs) {
    if (epoch > 0) epochs.set(token, (epochs.get(token) ?? new Set()).add(`${clusterUid} ${epoch}`));
  }
  const shared = [...epochs.values()].filter((of) => of.size > 1);
  return shared.map((of) => `FreshTokenPerEpoch: epochs ${[...of].join(' and ')} share a token`);
}

const intended: readonly string[] = ['Dead', 'Forced', 'Learner', 'Shrink', 'Roll'] satisfies RemoveOp['why'][];

/** Our tombstone follows the intent to remove that member. */
function removalsWereMeant(docs: readonly RecordDoc[]): string[] {
  const meant = new Set<string>();
  const wrong = new Set<string>();
  for (const { op, tombstones } of docs) {
    if (op?.kind === 'Remove') meant.add(op.memberId);
    for (const { memberId, why } of tombstones) {
      if (intended.includes(why) && !meant.has(memberId))
        wrong.add(`IntentFirst: member ${memberId} was removed without an intent`);
    }
  }
  return [...wrong];
}
