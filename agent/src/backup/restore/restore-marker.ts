import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { type WalIdentity, walIdentity } from '../../etcd/offline/wal.ts';
import { type WalState, walState } from '../../etcd/offline/wal-state.ts';
import { AgentError, codeOf, ExitCode, messageOf } from '../../lib/errors.ts';
import { unlessGone } from '../../lib/files/directories.ts';
import { replaceFile } from '../../lib/files/replace-file.ts';
import type { Differing } from '../../lib/finding.ts';
import { isTooDeep } from '../../lib/input/depth.ts';
import type { SnapshotManifest } from '../catalog/manifest.ts';
import { knownRevisionOf } from '../payload/plausible-revision.ts';
import { unlessBusy } from './partial.ts';

export const MARKER = 'etcd-agent-restore.json';

export interface DataDirRequest {
  readonly dataDir: string;
  readonly name: string;
  readonly initialCluster: string;
  readonly initialAdvertisePeerUrls: string;
  /** Default: a new token, for a cluster of one member. */
  readonly initialClusterToken?: string;
  /** Number of revisions to skip. 0: none. Default: as many as are needed. */
  readonly bumpRevision?: number;
  /** `--object-key`. */
  readonly objectKey?: string;
  /** Whether the user named the snapshot. Otherwise it is the newest verified one. */
  readonly named: boolean;
  /**
   * What to do if the directory was already restored: `refuse` it unless nothing has changed since, `leave` it as it
   * is, or restore `again`.
   */
  readonly repeat: 'refuse' | 'leave' | 'again';
}

/** A request whose revision bump has been determined. */
export interface ResolvedRequest extends DataDirRequest {
  readonly bumpRevision: number;
}

/** The snapshot that is asked for, as far as it is known. */
export interface AskedRestore {
  readonly id?: string;
  readonly sha256?: string;
}

/** The file that a restore leaves in the data directory: the request and its result. */
export interface Marker extends Omit<ResolvedRequest, 'dataDir' | 'named' | 'repeat'>, Partial<WalIdentity> {
  readonly id: string;
  /** SHA-256 of the snapshot's content. */
  readonly sha256: string;
  /** State of the write-ahead log after the restore. etcd changes it as soon as it starts. */
  readonly wal?: WalState;
  readonly at: string;
  /** Revision at which the restored cluster begins. */
  readonly revision?: number;
  /** Token that the cluster id is made from, also if the restore has chosen it. An older agent has not written it. */
  readonly token?: string;
  /** Whether the restore was noted in the store, or nothing had to be noted. */
  readonly isNoted?: boolean;
}

const text = z.optional(z.string());
const number = z.optional(z.number());
/** What is read of a marker. An older or newer agent may have written other fields. */
const markerSchema = z.looseObject({
  ...{ id: z.string(), initialCluster: z.string(), initialAdvertisePeerUrls: z.string() },
  ...{ sha256: text, name: text, initialClusterToken: text, token: text, clusterId: text, memberId: text, at: text },
  ...{ bumpRevision: number, revision: number, isNoted: z.optional(z.boolean()) },
  wal: z.optional(z.looseObject({ term: z.number(), commit: z.number(), lastIndex: z.number() })),
});

/** Describes the restore in this directory. `ends`: revision that the snapshot ends at. */
export async function markerOf(
  dataDir: string,
  manifest: SnapshotManifest,
  made: ResolvedRequest,
  token: string,
  ends: number | undefined,
): Promise<Marker> {
  const { dataDir: _, named: __, repeat: ___, ...asked } = made;
  const { id, content } = manifest;
  const revision = ends ?? knownRevisionOf(manifest);
  const [identity, wal] = [await walIdentity(dataDir), await walState(dataDir)];
  return {
    ...{ id, sha256: content.sha256, ...asked, token, ...identity },
    revision: revision === undefined ? undefined : revision + made.bumpRevision,
    wal,
    at: new Date().toISOString(),
  };
}

/** Replaces the marker atomically: etcd may already be running in the directory. */
export const writeMarker = (dataDir: string, marker: Marker): Promise<void> =>
  replaceFile(join(dataDir, MARKER), `${JSON.stringify(marker)}\n`);

/**
 * Sets `isNoted`, unless another restore has replaced the data meanwhile: that restore, or the next start, then sets
 * it.
 */
export async function markNoted(dataDir: string, { clusterId, memberId }: Marker): Promise<void> {
  await unlessBusy(dataDir, async () => {
    const marker = await readMarker(dataDir);
    if (marker?.clusterId !== clusterId || marker?.memberId !== memberId) return;
    await writeMarker(dataDir, { ...marker!, isNoted: true });
  });
}

export async function readMarker(dataDir: string): Promise<Marker | undefined> {
  const file = join(dataDir, MARKER);
  try {
    return markerIn(await readFile(file, 'utf8'));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return undefined;
    throw new AgentError(
      ExitCode.refused,
      `${file} cannot be read (${codeOf(error) ?? 'it is damaged'}), so it is not known which snapshot was restored here`,
      { cause: error, finding: { kind: 'markerUnreadable' } },
    );
  }
}

function markerIn(json: string): Marker {
  const found: unknown = JSON.parse(json);
  if (isTooDeep(found)) throw new TypeError('it is nested too deep');
  return markerSchema.parse(found) as Marker;
}

/** Returns the settings that differ from those of the restore. */
export function differences(marker: Marker, { id, sha256 }: AskedRestore, request: DataDirRequest): Differing[] {
  const { name, initialCluster, initialAdvertisePeerUrls, initialClusterToken, bumpRevision } = request;
  const differs = (setting: string, was: unknown, now: unknown) => (was === now ? [] : [{ setting, was, now }]);
  return [
    // Without a name, the newest snapshot at the time of the restore was meant.
    ...(request.named && id !== undefined ? differs('id', marker.id, id) : []),
    ...(request.named && sha256 !== undefined && [marker.id, undefined].includes(id)
      ? differs('sha256', marker.sha256, sha256)
      : []),
    ...differs('name', marker.name, name),
    ...differs('initialCluster', sorted(marker.initialCluster), sorted(initialCluster)),
    ...differs('initialAdvertisePeerUrls', sorted(marker.initialAdvertisePeerUrls), sorted(initialAdvertisePeerUrls)),
    ...differs('initialClusterToken', marker.initialClusterToken, initialClusterToken),
    ...(bumpRevision === undefined ? [] : differs('bumpRevision', marker.bumpRevision, bumpRevision)),
  ];
}

const sorted = (list: string | undefined) => list?.split(',').sort().join(',');

/** How the data have changed since the restore. */
export interface DataChange {
  readonly what: string;
  /** Whether etcd made the change, so that the data still belong to the member. */
  readonly byEtcd: boolean;
}

/** Returns how the data have changed, or undefined if they have not. Data that cannot be read may hold anything. */
export const changeSince = (marker: Marker, dataDir: string): Promise<DataChange | undefined> =>
  changeIn(marker, dataDir).catch((error) => ({ what: `it cannot be read: ${messageOf(error)}`, byEtcd: false }));

async function changeIn({ wal, clusterId, memberId }: Marker, dataDir: string): Promise<DataChange | undefined> {
  const lost = (what: string) => ({ what, byEtcd: false });
  if (!(await unlessGone(stat(join(dataDir, 'member', 'snap', 'db'))))) return lost('its database is gone');
  const identity = await walIdentity(dataDir);
  if (!identity) return lost('its log is gone');
  if (identity.clusterId !== clusterId || identity.memberId !== memberId) {
    return lost(`it holds member ${identity.memberId} of cluster ${identity.clusterId}`);
  }
  // A record is incomplete while etcd writes to the log, and after etcd was killed during a write.
  const now = await walState(dataDir).catch((error) => {
    if (error instanceof RangeError) return undefined;
    throw error;
  });
  if (now && now.lastIndex === wal?.lastIndex && now.commit === wal.commit && now.term === wal.term) return undefined;
  const log = now
    ? `its log is at index ${now.lastIndex}, and was at ${wal?.lastIndex ?? 'none'}`
    : 'its log ends within a record';
  return { what: `etcd has written to it: ${log}`, byEtcd: true };
}
