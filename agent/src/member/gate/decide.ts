import type { AgentReason } from '../../protocol/agent-reasons.ts';
import type { Identity } from '../../protocol/agent-status.ts';
import type { Permit, RecordDoc } from '../../protocol/record.ts';
import type { RecordAnswer } from '../../protocol/record-schema.ts';
import { isNewer } from '../record/record-cache.ts';
import { newMemberRefusal, type Refusal, versionRefusal } from '../version-rule.ts';
import type { RestoreMarker, VolumeFacts } from '../volume.ts';

/** What a read of the record came to. */
export type RecordRead = RecordAnswer | { readonly kind: 'unreachable'; readonly why: string };

export interface GateFacts {
  readonly cluster: string;
  readonly ordinal: number;
  readonly minEpoch: number;
  readonly etcdVersion: string;
  readonly volume: VolumeFacts;
  readonly record: RecordRead;
  /** The newest record that this volume has seen. */
  readonly cache?: RecordDoc;
}

/** What the gate does next. Only `start`, `permit` and `restore` end with etcd. */
export type Decision =
  | { readonly do: 'start'; readonly identity: Identity }
  /** Restored data got their place, and the gate was stopped before it had written whose they are. */
  | { readonly do: 'completeRestore'; readonly restored: RestoreMarker }
  | { readonly do: 'quarantine'; readonly epoch: number; readonly why: string }
  | { readonly do: 'leftover' }
  | { readonly do: 'volumeId' }
  | { readonly do: 'permit'; readonly permit: Permit; readonly doc: RecordDoc }
  | { readonly do: 'restore'; readonly permit: Permit; readonly doc: RecordDoc }
  | { readonly do: 'salvage'; readonly permit: Permit; readonly identity: Identity }
  | { readonly do: 'wait'; readonly why?: Refusal }
  | { readonly do: 'refuse'; readonly why: Refusal };

const refuse = (reason: AgentReason, message: string): Decision => ({ do: 'refuse', why: { reason, message } });

/** The gate's whole judgement. Pure: it sees the volume and the record, and nothing else. */
export function decide(facts: GateFacts): Decision {
  const { volume, ordinal, cluster } = facts;
  const stored = volume.identity;
  if (stored.kind === 'unreadable')
    return refuse('ForeignData', `identity.json on the volume is damaged (${stored.why}); nothing was touched`);
  const restored = toComplete(volume, ordinal);
  if (restored) return { do: 'completeRestore', restored };
  if (stored.kind === 'none') return volume.walPresent ? unknownData() : withoutData(facts, undefined);
  const { identity } = stored;
  if (identity.ordinal !== ordinal)
    return refuse(
      'ForeignData',
      `the volume belongs to ${cluster}-${identity.ordinal}, and this is pod ${ordinal}; nothing was touched`,
    );
  const { doc } = readable(facts, identity.clusterUid);
  if (doc && doc.clusterUid !== identity.clusterUid)
    return refuse(
      'ForeignData',
      `the volume belongs to another cluster (${identity.clusterUid}, not ${doc.clusterUid}); nothing was touched`,
    );
  return volume.walPresent ? withData(facts, identity) : withoutData(facts, identity);
}

const unknownData = (): Decision =>
  refuse('ForeignData', 'the volume holds data of etcd without identity.json, so not from here; nothing was touched');

function toComplete(
  { restored, volumeId, identity, walPresent }: VolumeFacts,
  ordinal: number,
): RestoreMarker | undefined {
  if (!walPresent || restored?.volumeId !== volumeId || restored?.ordinal !== ordinal) return undefined;
  if (identity.kind !== 'identity') return restored;
  const { epoch, lastRestoreId } = identity.identity;
  return epoch < restored.epoch || (epoch === restored.epoch && lastRestoreId !== restored.restoreId)
    ? restored
    : undefined;
}

interface Readable {
  readonly doc?: RecordDoc;
  readonly known?: RecordDoc;
  readonly why?: Refusal;
}

/** The record as it is now, unless it can not be relied on; `known`: that or the one seen last. */
function readable({ record, cache }: GateFacts, clusterUid: string | undefined): Readable {
  const last = cache && (clusterUid === undefined || cache.clusterUid === clusterUid) ? cache : undefined;
  if (record.kind !== 'record') return { known: last, why: whyNot(record) };
  const { doc } = record;
  if (last && doc.rev !== last.rev && !isNewer(doc, last))
    return {
      known: last,
      why: {
        reason: 'RecordRolledBack',
        message: `the record has rev ${doc.rev}, and this volume has seen rev ${last.rev}`,
      },
    };
  return { doc, known: doc };
}

function whyNot(record: Exclude<RecordRead, { kind: 'record' }>): Refusal {
  switch (record.kind) {
    case 'none':
      return { reason: 'NoRecord', message: 'there is no record yet; the reconciler makes it' };
    case 'refused':
      return { reason: 'RecordNotUnderstood', message: record.reason };
    case 'unreachable':
      return { reason: 'RecordUnreachable', message: `the record could not be read: ${record.why}` };
  }
}

function withData(facts: GateFacts, identity: Identity): Decision {
  const { volume, minEpoch, etcdVersion } = facts;
  const { doc, known } = readable(facts, identity.clusterUid);
  const memberId = volume.wal?.memberId ?? identity.memberId;
  if (identity.epoch < Math.max(minEpoch, doc?.epoch ?? 0))
    return { do: 'quarantine', epoch: identity.epoch, why: 'epoch' };
  if (doc && isBuried(doc, memberId)) return { do: 'quarantine', epoch: identity.epoch, why: 'removed' };
  // A record seen before is reason enough not to start, but not to move anything.
  if (known && identity.epoch < known.epoch)
    return refuse('OldEpoch', `the data are of epoch ${identity.epoch}, and the cluster is at ${known.epoch}`);
  if (known && isBuried(known, memberId)) return refuse('Removed', `member ${memberId} was removed from the cluster`);
  const permit = doc && permitFor(doc, facts);
  if (permit?.mode === 'salvage') return { do: 'salvage', permit, identity };
  const refusal = versionRefusal({
    binary: etcdVersion,
    last: identity.lastVersion,
    cluster: identity.clusterVersion,
    snapIndex: volume.snapIndex,
    allowed: known?.versions,
  });
  return refusal ? { do: 'refuse', why: refusal } : { do: 'start', identity };
}

const isBuried = (doc: RecordDoc, memberId: string | undefined): boolean =>
  memberId !== undefined && doc.tombstones.some((tombstone) => tombstone.memberId === memberId);

function withoutData(facts: GateFacts, identity: Identity | undefined): Decision {
  const { volume, minEpoch, etcdVersion } = facts;
  const fresh = identity === undefined && volume.volumeId === undefined;
  // No etcd of ours ever starts without an identity.
  if ((fresh && volume.foreign.length > 0) || (!identity && volume.leftover))
    return refuse('ForeignData', foreignMessage(volume));
  // It had data once, and somebody emptied it: another volume now, on which the old member must not come back.
  if (identity && (identity.state === 'sealed' || volume.leftover === 'data'))
    return { do: 'quarantine', epoch: identity.epoch, why: 'emptied' };
  if (volume.leftover) return { do: 'leftover' };
  if (volume.volumeId === undefined) return { do: 'volumeId' };
  const { doc, why } = readable(facts, identity?.clusterUid);
  if (!doc) return { do: 'wait', why };
  const permit = permitFor(doc, facts);
  if (!permit || permit.epoch < minEpoch || permit.mode === 'salvage') return { do: 'wait' };
  if (permit.mode !== 'existing' && facts.ordinal !== 0)
    return refuse('PermitRefused', `permit ${permit.id} would begin a cluster on ordinal ${facts.ordinal}`);
  const refusal = newMemberRefusal(etcdVersion, doc.versions);
  if (refusal) return { do: 'refuse', why: refusal };
  return permit.mode === 'restore' ? { do: 'restore', permit, doc } : { do: 'permit', permit, doc };
}

function foreignMessage({ foreign, leftover }: VolumeFacts): string {
  const found = foreign.length > 0 ? foreign.slice(0, 5).join(', ') : `${leftover} in etcd/`;
  return `the volume is not empty (${found}), and not from here; give the pod an empty one; nothing was touched`;
}

/** Only ever of a record that was read just now. */
function permitFor(doc: RecordDoc, { ordinal, volume }: GateFacts): Permit | undefined {
  const permit = doc.permits[ordinal];
  return permit?.ordinal === ordinal && permit.volumeId === volume.volumeId && permit.epoch === doc.epoch
    ? permit
    : undefined;
}
