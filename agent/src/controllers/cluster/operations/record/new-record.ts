import type { AgentStatus, Identity } from '../../../../protocol/agent-status.ts';
import type { MaintenanceResults, Permit, RecordDoc, RecordedMember } from '../../../../protocol/record.ts';
import { isOrigin } from '../../../../protocol/restore-id.ts';
import { triedRequest } from '../../../../protocol/tried-request.ts';
import { minorOf } from '../../../../protocol/versions.ts';
import type { RestoreRequest } from '../../../port/observed.ts';
import type { View } from '../../engine/view.ts';
import { listed } from '../../facts/member-view.ts';
import { agentOf, podsOf, statefulSet } from '../../facts/observations.ts';
import { transportAtBirth, transportSeen } from '../../facts/transport.ts';
import { allRequests } from '../restore/operation.ts';
import { timestamp } from './write.ts';

// Records that are created without an older one: the first, and a lost one that is rebuilt from living volumes.

/** Beyond any revision that an agent that does not answer now may have cached. */
const revGap = 1000;

export const agents = (v: View): AgentStatus[] =>
  podsOf(v)
    .map(({ ordinal }) => agentOf(v, ordinal))
    .filter((agent) => agent !== undefined);

export const hasData = ({ volume }: AgentStatus): boolean => volume.walPresent || volume.identity !== undefined;

/** Agents ignore a record that is older than the one they know. */
const highestRev = (v: View): number => Math.max(0, ...agents(v).map(({ recordRev }) => recordRev ?? 0));

const emptyRecord = (v: View): RecordDoc => ({
  v: 1,
  rev: highestRev(v) + 1,
  clusterUid: v.o.fresh.clusterUid,
  epoch: 0,
  minEpoch: 0,
  token: v.o.fresh.token,
  phase: 'Seeding',
  seeded: false,
  permits: {},
  members: {},
  tombstones: [],
  versions: { current: minorOf(v.spec.version), allowedMinors: [minorOf(v.spec.version)] },
  restores: [],
  transport: transportAtBirth(v),
});

/** Of an EtcdRestore that has changed its cluster. */
export const phasesPastFence: readonly string[] = ['Draining', 'Restoring', 'Regrowing', 'Completed'];

const isPastFence = ({ phase }: RestoreRequest): boolean => phase !== undefined && phasesPastFence.includes(phase);

/** They may have changed a cluster. One that failed may have failed past its fence. */
const begun = (v: View): RestoreRequest[] =>
  allRequests(v).filter((request) => isPastFence(request) || request.phase === 'Failed');

const older = (requests: readonly RestoreRequest[]): Pick<RecordDoc, 'olderRestores'> =>
  requests.length > 0 ? { olderRestores: requests.map(({ name, specHash }) => ({ id: name, specHash })) } : {};

/** A former cluster of this name may have been changed by the EtcdRestores that have begun. */
export const firstRecord = (v: View): RecordDoc => ({ ...emptyRecord(v), ...older(begun(v)) });

export const sealed = (v: View): Identity[] =>
  agents(v)
    .filter(({ volume }) => volume.walPresent)
    .map(({ volume }) => volume.identity)
    .filter((identity) => identity !== undefined);

export const newestEpoch = (v: View): number => Math.max(0, ...sealed(v).map(({ epoch }) => epoch));

const newest = (v: View): Identity[] => sealed(v).filter(({ epoch }) => epoch === newestEpoch(v));

/** Members that a living volume attests for. The others are adopted when their pods are back. */
export function membersOf(v: View): Record<string, RecordedMember> {
  const found: Record<string, RecordedMember> = {};
  for (const member of listed(v)) {
    const ordinal = member.ordinal;
    const identity = newest(v).find(({ memberId }) => memberId === member.id);
    if (ordinal === undefined || identity?.ordinal !== ordinal) continue;
    const { volumeId, epoch } = identity;
    found[ordinal] = { memberId: member.id, volumeId, epoch, everVoter: !member.isLearner };
  }
  return found;
}

/**
 * A learner is permitted on the volume that attests for it. A learner without such a volume may have been permitted on one
 * that is lost, so its permit fits no volume: it is removed rather than permitted on another one.
 */
const permitsOf = (v: View, members: Record<string, RecordedMember>): RecordDoc['permits'] =>
  Object.fromEntries(
    listed(v)
      .map((member) => ({ member, ordinal: member.ordinal }))
      .filter(({ member, ordinal }) => member.isLearner && ordinal !== undefined)
      .map(({ member, ordinal }) => [ordinal, usedPermit(v, ordinal!, member.id, members[ordinal!]?.volumeId ?? '')]),
  );

const usedPermit = (v: View, ordinal: number, memberId: string, volumeId: string): Permit => ({
  id: v.o.fresh.id,
  ordinal,
  volumeId,
  epoch: newestEpoch(v),
  mode: 'existing',
  token: '',
  initialCluster: '',
  memberId,
  issuedAt: timestamp(v),
});

/** In the order in which they passed their fence, as far as it is known. */
const restoresOf = (v: View): RecordDoc['restores'] => {
  const known = new Map(begun(v).map((request) => [request.name, request]));
  const read = new Map(pastSeen(v).flatMap(({ restores }) => restores.map((restore) => [restore.id, restore])));
  // An EtcdRestore may lack its status, for example after a backup of Kubernetes was restored.
  const seen = [
    ...read.keys(),
    ...newest(v).map(({ lastRestoreId }) => lastRestoreId),
    v.cluster.status.lastRestoreId,
  ].filter((id) => id !== undefined);
  const ofFormer = olderRead(v).map(({ id }) => id);
  const others = [...known.values()].filter(
    (request) => isPastFence(request) && ![...seen, ...ofFormer].includes(request.name),
  );
  const ids = new Set([...others.map(({ name }) => name), ...seen]);
  return [...ids].map((id) => {
    // An EtcdRestore of the name may be another one by now, that was refused.
    const { uid = '', specHash = '' } = (read.get(id)?.uid ? read : known).get(id) ?? {};
    return { id, uid, specHash, at: timestamp(v) };
  });
};

const olderRead = (v: View) => pastSeen(v).flatMap(({ olderRestores = [] }) => olderRestores);

/** If no agent has read the lost record, whatever is there counts as older than what the cluster was born from. */
function olderSeen(v: View, restores: RecordDoc['restores']): Pick<RecordDoc, 'olderRestores'> {
  const isNew = (id: string): boolean => !restores.some((restore) => restore.id === id);
  if (restores.some(({ id }) => isOrigin(id)) && pastSeen(v).length === 0)
    return older(allRequests(v).filter(({ name }) => isNew(name)));
  const found = new Map(olderRead(v).map((each) => [each.id, each]));
  const left = [...found.values()].filter(({ id }) => isNew(id));
  return left.length > 0 ? { olderRestores: left } : {};
}

/** A name that was restored stands among the restores. */
function failedSeen(v: View, restores: RecordDoc['restores']): Pick<RecordDoc, 'failedRestores'> {
  const failed = allRequests(v).filter(({ phase }) => phase === 'Failed');
  const names = [...pastSeen(v).flatMap((past) => past.failedRestores ?? []), ...failed.map(({ name }) => name)];
  const left = [...new Set(names)].filter((name) => !restores.some(({ id }) => id === name));
  return left.length > 0 ? { failedRestores: left } : {};
}

/** Agents of the cluster with the newest data; they may have read the lost record. */
const readers = (v: View): AgentStatus[] =>
  agents(v).filter(({ volume }) => volume.identity && volume.identity.clusterUid === newest(v)[0]?.clusterUid);

/** Restores and start revisions of the lost record. */
const pastSeen = (v: View) => readers(v).flatMap(({ recordPast }) => recordPast ?? []);

/** Epoch of the lost record. Data of an older epoch were fenced off, and the last restore may not have happened. */
export const epochRead = (v: View): number =>
  Math.max(0, ...readers(v).map(({ recordVersions }) => recordVersions?.epoch ?? 0));

/**
 * Versions of this epoch in the lost record, if an agent has read it. Without them, a cluster that never ran 3.5 would have
 * to flush entries of 3.5. Of two indexes the later one is safe.
 */
function versionsSeen(v: View): Partial<RecordDoc['versions']> {
  const seen = agents(v).flatMap(({ recordVersions: found }) => (found?.epoch === newestEpoch(v) ? [found] : []));
  const bornOn = seen.find((each) => each.bornOn !== undefined)?.bornOn;
  const indexes = seen.flatMap(({ finalizedIndex }) => finalizedIndex ?? []);
  return {
    bornOn,
    finalizedIndex: indexes.length > 0 ? Math.max(...indexes) : undefined,
  };
}

/** The requests that the status knows as tried are not tried again. */
function maintenanceSeen(v: View): Pick<RecordDoc, 'maintenance'> {
  const tried = Object.entries(v.cluster.status.maintenance ?? {}).flatMap(([kind, told]) => {
    const found = triedRequest(told);
    // A later release may know other phases.
    return found ? [[kind, { ...found, phase: found.phase === 'Completed' ? 'Completed' : 'Failed' }] as const] : [];
  });
  return tried.length > 0 ? { maintenance: Object.fromEntries(tried) as MaintenanceResults } : {};
}

export function rebuilt(v: View): RecordDoc {
  const [first] = newest(v);
  const { clusterUid, epoch, token, clusterId, lastRestoreId } = first!;
  const members = membersOf(v);
  const restores = restoresOf(v);
  const startRevision = Math.max(0, ...pastSeen(v).map((past) => past.startRevision ?? 0));
  const minors = [...new Set(newest(v).map(({ lastVersion }) => minorOf(lastVersion)))].sort();
  return {
    ...emptyRecord(v),
    rev: highestRev(v) + revGap,
    clusterUid,
    epoch,
    minEpoch: Math.min(epoch, statefulSet(v)?.minEpoch ?? 0),
    token,
    phase: 'Running',
    seeded: true,
    clusterId,
    members,
    permits: permitsOf(v, members),
    versions: { current: minors[0]!, allowedMinors: minors, ...versionsSeen(v) },
    restores,
    ...olderSeen(v, restores),
    ...failedSeen(v, restores),
    transport: transportSeen(v, minors),
    ...maintenanceSeen(v),
    ...(startRevision > 0 && { startRevision }),
    ...(lastRestoreId && { lastRestoreId }),
  };
}

export const oneCluster = (v: View): boolean =>
  newest(v).length > 0 &&
  new Set(newest(v).map(({ clusterUid }) => clusterUid)).size === 1 &&
  newest(v)[0]?.clusterId !== undefined;
