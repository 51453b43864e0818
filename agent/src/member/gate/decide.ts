import type { AgentReason } from '../../protocol/agent-reasons.ts';
import type { Identity } from '../../protocol/agent-status.ts';
import type { Permit, RecordDoc } from '../../protocol/record.ts';
import type { RecordAnswer } from '../../protocol/record-schema.ts';
import { damagedIdentity, noIdentity } from '../identity.ts';
import { isNewer } from '../record/record-cache.ts';
import { newMemberRefusal, type VersionRefusal, versionRefusal } from '../version-rule.ts';
import type { RestoreMarker, VolumeFacts } from '../volume.ts';

/** Result of reading the record. */
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
  /** Index of the newest entry in the write-ahead log. Unset unless it was asked for and could be read. */
  readonly lastIndex?: number;
}

/** The gate's next action. Only `start`, `permit` and `restore` lead to a start of etcd. */
export type GateDecision =
  /** `doc`: the newest record that is known, if there is one. */
  | { readonly do: 'start'; readonly identity: Identity; readonly doc: RecordDoc | undefined }
  /** The restored data are in place, but the gate was stopped before it wrote their identity. */
  | { readonly do: 'completeRestore'; readonly restored: RestoreMarker }
  | { readonly do: 'quarantine'; readonly epoch: number; readonly why: string }
  | { readonly do: 'leftover' }
  | { readonly do: 'volumeId' }
  | { readonly do: 'permit'; readonly permit: Permit; readonly doc: RecordDoc }
  | { readonly do: 'restore'; readonly permit: Permit; readonly doc: RecordDoc }
  | { readonly do: 'salvage'; readonly permit: Permit; readonly identity: Identity }
  | { readonly do: 'wait'; readonly why?: VersionRefusal }
  | { readonly do: 'refuse'; readonly why: VersionRefusal };

const refuse = (reason: AgentReason, message: string): GateDecision => ({ do: 'refuse', why: { reason, message } });

/** Decides what the gate does next. Pure: depends only on the volume and the record. */
export function decide(facts: GateFacts): GateDecision {
  const { volume, ordinal, cluster } = facts;
  const stored = volume.identity;
  if (stored.kind === 'unreadable') return refuse('ForeignData', damagedIdentity(stored.why));
  const restored = toComplete(volume, ordinal);
  if (restored) return { do: 'completeRestore', restored };
  if (stored.kind === 'none')
    return volume.walPresent ? refuse('ForeignData', noIdentity) : withoutData(facts, undefined);
  const { identity } = stored;
  if (identity.ordinal !== ordinal)
    return refuse(
      'ForeignData',
      `the volume belongs to pod ${cluster}-${identity.ordinal}, not to ${cluster}-${ordinal}; nothing was changed`,
    );
  const { doc } = readable(facts, identity.clusterUid);
  if (doc && doc.clusterUid !== identity.clusterUid)
    return refuse(
      'ForeignData',
      `the volume belongs to another cluster (${identity.clusterUid}, not ${doc.clusterUid}); nothing was changed`,
    );
  return volume.walPresent ? withData(facts, identity) : withoutData(facts, identity);
}

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
  readonly why?: VersionRefusal;
}

/** `doc`: the current record, if it can be trusted. `known`: the same, otherwise the last record that this volume has seen. */
function readable({ record, cache }: GateFacts, clusterUid: string | undefined): Readable {
  const last = cache && (clusterUid === undefined || cache.clusterUid === clusterUid) ? cache : undefined;
  if (record.kind !== 'record') return { known: last, why: whyNot(record) };
  const { doc } = record;
  if (last && doc.rev !== last.rev && !isNewer(doc, last))
    return {
      known: last,
      why: {
        reason: 'RecordRolledBack',
        message: `the record has rev ${doc.rev}, but this volume has already seen rev ${last.rev}`,
      },
    };
  return { doc, known: doc };
}

function whyNot(record: Exclude<RecordRead, { kind: 'record' }>): VersionRefusal {
  switch (record.kind) {
    case 'none':
      return { reason: 'NoRecord', message: 'waiting for the reconciler to create the record' };
    case 'refused':
      return { reason: 'RecordNotUnderstood', message: record.reason };
    case 'unreachable':
      return { reason: 'RecordUnreachable', message: `the record could not be read: ${record.why}` };
  }
}

function withData(facts: GateFacts, identity: Identity): GateDecision {
  const { volume, minEpoch, etcdVersion } = facts;
  const { doc, known } = readable(facts, identity.clusterUid);
  const memberId = volume.wal?.memberId ?? identity.memberId;
  if (identity.epoch < Math.max(minEpoch, doc?.epoch ?? 0))
    return { do: 'quarantine', epoch: identity.epoch, why: 'epoch' };
  if (doc && hasTombstone(doc, memberId)) return { do: 'quarantine', epoch: identity.epoch, why: 'removed' };
  // The cached record is enough to refuse a start, but not to move data: it may be outdated.
  if (known && identity.epoch < known.epoch)
    return refuse('OldEpoch', `the data belong to epoch ${identity.epoch}, but the cluster is at epoch ${known.epoch}`);
  if (known && hasTombstone(known, memberId))
    return refuse('Removed', `member ${memberId} was removed from the cluster`);
  const permit = doc && permitFor(doc, facts);
  if (permit?.mode === 'salvage') return { do: 'salvage', permit, identity };
  const setBack = known?.epoch === identity.epoch ? setBackRefusal(known, facts, memberId) : undefined;
  if (setBack) return { do: 'refuse', why: setBack };
  const refusal = versionRefusal({
    binary: etcdVersion,
    last: identity.lastVersion,
    cluster: identity.clusterVersion,
    snapIndex: volume.snapIndex,
    allowed: known?.versions,
  });
  return refusal ? { do: 'refuse', why: refusal } : { do: 'start', identity, doc: known };
}

/** Storage has set the volume back: etcd would vote without entries that it has acknowledged. */
function setBackRefusal(
  doc: RecordDoc,
  { ordinal, lastIndex }: GateFacts,
  memberId?: string,
): VersionRefusal | undefined {
  const member = doc.members[ordinal];
  if (member?.memberId !== memberId || member?.epoch !== doc.epoch) return undefined;
  const { index } = member.reached ?? {};
  if (index === undefined || lastIndex === undefined || lastIndex >= index) return undefined;
  const message = `the write-ahead log ends at index ${lastIndex}, but member ${memberId} had reached ${index}: the volume was set back to an earlier state, and etcd would vote without writes that it has acknowledged`;
  return { reason: 'VolumeSetBack', message };
}

const hasTombstone = (doc: RecordDoc, memberId: string | undefined): boolean =>
  memberId !== undefined && doc.tombstones.some((tombstone) => tombstone.memberId === memberId);

function withoutData(facts: GateFacts, identity: Identity | undefined): GateDecision {
  const { volume, minEpoch, etcdVersion } = facts;
  const fresh = identity === undefined && volume.volumeId === undefined;
  // The gate writes an identity before every start, so files without one are not ours.
  if ((fresh && volume.foreign.length > 0) || (!identity && volume.leftover))
    return refuse('ForeignData', foreignMessage(volume));
  // The volume held a member and was emptied. Treat it as a new volume: the old member must not come back on it.
  if (identity && (identity.state === 'sealed' || volume.leftover === 'data'))
    return { do: 'quarantine', epoch: identity.epoch, why: 'emptied' };
  if (volume.leftover) return { do: 'leftover' };
  if (volume.volumeId === undefined) return { do: 'volumeId' };
  const { doc, why } = readable(facts, identity?.clusterUid);
  if (!doc) return { do: 'wait', why };
  const permit = permitFor(doc, facts);
  if (!permit || permit.epoch < minEpoch || permit.mode === 'salvage') return { do: 'wait' };
  if (permit.mode !== 'existing' && facts.ordinal !== 0)
    return refuse(
      'PermitRefused',
      `permit ${permit.id} would start a new cluster on ordinal ${facts.ordinal}; only ordinal 0 may do that`,
    );
  const refusal = newMemberRefusal(etcdVersion, doc.versions);
  if (refusal) return { do: 'refuse', why: refusal };
  return permit.mode === 'restore' ? { do: 'restore', permit, doc } : { do: 'permit', permit, doc };
}

function foreignMessage({ foreign, leftover }: VolumeFacts): string {
  const found = foreign.length > 0 ? foreign.slice(0, 5).join(', ') : `${leftover} in etcd/`;
  return `the volume holds files that no member of this cluster wrote (${found}); give the pod an empty volume; nothing was changed`;
}

/** The permit for this volume. Pass only a record that was just read, never the cached one. */
function permitFor(doc: RecordDoc, { ordinal, volume }: GateFacts): Permit | undefined {
  const permit = doc.permits[ordinal];
  return permit?.ordinal === ordinal && permit.volumeId === volume.volumeId && permit.epoch === doc.epoch
    ? permit
    : undefined;
}
