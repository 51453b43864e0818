import type { Remark } from '../../lib/finding.ts';
import { above } from '../../store/place.ts';
import type { StoreSpec } from '../../store/spec.ts';
import { candidatesOf } from '../catalog/candidate.ts';
import type { Entry } from '../catalog/catalog.ts';
import { folderOf, type NamedCluster } from '../catalog/identity/folder.ts';
import { isOf, linesOf } from '../catalog/identity/identity.ts';
import { tooDeepAmong } from '../catalog/identity/misplaced.ts';
import { fallText, higherBefore, type ReachedRevision } from '../catalog/revision-fall.ts';
import type { BackupTarget, Origin, StoreRequest } from './request.ts';

const UNKNOWN = 'unknown';

/**
 * Returns the newest snapshot of an etcd that no restore connects with those of these cluster ids. `known`: the snapshots
 * that say what was restored.
 */
export function otherEtcdAmong(
  entries: readonly Entry[],
  named: NamedCluster,
  ids: readonly string[],
  known = entries,
): Entry | undefined {
  const isOwn = (entry: Entry) => isOf(named, entry) && entry.manifest?.source.clusterId !== UNKNOWN;
  const own = ids.filter((id) => id !== UNKNOWN);
  if (own.length === 0) return undefined;
  const connected = new Set(own);
  for (const { family } of linesOf(known.filter(isOwn)))
    if (own.some((id) => family.has(id))) for (const id of family) connected.add(id);
  return entries.find((entry) => isOwn(entry) && !connected.has(entry.manifest!.source.clusterId));
}

/**
 * Returns a warning for a backup of an etcd into a folder that has snapshots of another one, unless restores connect the two.
 * `lineage`: the etcd clusters that it was restored from.
 */
function otherEtcdWarning(
  entries: readonly Entry[],
  named: NamedCluster,
  clusterId: string,
  lineage: readonly string[],
): Remark | undefined {
  if (clusterId === UNKNOWN) return undefined;
  const newest = otherEtcdAmong(entries, named, [clusterId, ...lineage]);
  if (!newest) return undefined;
  const other = newest.manifest!.source.clusterId;
  return {
    message: `${folderOf(named)} has snapshots of another etcd (cluster id ${other}, newest ${newest.id}), and this one has the cluster id ${clusterId}`,
    finding: { kind: 'otherEtcd', clusterId: other },
  };
}

/** Returns a warning for a backup that is not encrypted, in a folder that has encrypted snapshots of the agent. */
function plaintextWarning(
  entries: readonly Entry[],
  named: NamedCluster,
  recipients: readonly string[],
): Remark | undefined {
  if (recipients.length > 0) return undefined;
  // Of a file that was adopted, the recipients are not known.
  const encrypted = entries.find((entry) => isOf(named, entry) && entry.manifest?.object.encryption?.recipients.length);
  if (!encrypted) return undefined;
  return {
    message: `this backup is not encrypted, but ${folderOf(named)} has encrypted snapshots, such as ${encrypted.id}`,
    finding: { kind: 'plaintext' },
  };
}

/** Returns a warning for a backup of an etcd that had a higher revision before, under the same cluster id. */
function fallWarning(entries: readonly Entry[], named: NamedCluster, now: ReachedRevision): Remark | undefined {
  const own = entries.filter((entry) => isOf(named, entry));
  const before = higherBefore(candidatesOf(own), now);
  return before && { message: fallText(before, now, ' now') };
}

/** Returns a warning for a backup into a store that begins inside the folder of a cluster, by the snapshots in its own folder. */
function tooDeepWarning(
  entries: readonly Entry[],
  named: NamedCluster,
  spec: StoreSpec | undefined,
): Remark | undefined {
  const misplaced = tooDeepAmong(entries, named);
  // If the path of the store does not lead there, they were copied by hand. That of a store of commands is not known.
  if (!misplaced || !spec || (!above(spec, misplaced.above!) && !spec.command)) return undefined;
  return {
    message: `the store ${misplaced.isGuess ? 'may begin' : 'begins'} inside the folder of a cluster`,
    finding: { kind: 'misplaced', misplaced },
  };
}

/** Returns what the snapshots in a store say against this backup. */
export function warningsFor(
  entries: readonly Entry[],
  { spec }: Pick<BackupTarget, 'spec'>,
  request: StoreRequest,
  { source: { clusterId }, revision }: Origin,
  lineage: readonly string[],
): Remark[] {
  const ofFolder = [
    otherEtcdWarning(entries, request, clusterId, lineage),
    plaintextWarning(entries, request, request.recipients ?? []),
    tooDeepWarning(entries, request, spec),
  ];
  const fall = fallWarning(entries, request, { clusterId, revision, createdAt: new Date() });
  return [...(request.key ? [] : ofFolder), fall].filter((warning) => warning !== undefined);
}
