import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type WalIdentity, walIdentity } from '../../etcd/offline/wal.ts';
import { type WalState, walState } from '../../etcd/offline/wal-state.ts';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import { replaceFile } from '../../lib/files/replace-file.ts';
import { type Manifest, revisionOf } from '../catalog/manifest.ts';
import { unlessBusy } from './partial.ts';

export const MARKER = 'etcd-agent-restore.json';

export interface DataDirRequest {
  readonly dataDir: string;
  readonly name: string;
  readonly initialCluster: string;
  readonly initialAdvertisePeerUrls: string;
  /** Undefined: a new one, for a single member. */
  readonly initialClusterToken?: string;
  /** 0: none. Undefined: as far as is needed. */
  readonly bumpRevision?: number;
  /** `--object-key`. */
  readonly objectKey?: string;
  /** Which snapshot it is was asked for; otherwise it was the newest one. */
  readonly named: boolean;
  /** When a restore lies here already: `refuse` unless nothing changed since, leave it as it is, or make it `again`. */
  readonly repeat: 'refuse' | 'leave' | 'again';
}

/** What is restored, with the number that was come to. */
export interface Made extends DataDirRequest {
  readonly bumpRevision: number;
}

/** Which snapshot is asked for, as far as that is known. */
export interface Asked {
  readonly id?: string;
  readonly sha256?: string;
}

/** What a restored data directory remembers: what was asked for, and what was made of it. */
export interface Marker extends Omit<Made, 'dataDir' | 'named' | 'repeat'>, Partial<WalIdentity> {
  readonly id: string;
  /** Of the snapshot. */
  readonly sha256: string;
  /** The log as the restore made it: etcd writes to it as soon as it starts. */
  readonly wal?: WalState;
  readonly at: string;
  /** With which the restored cluster begins. */
  readonly revision?: number;
  /** The store knows of it, or has nothing to know. */
  readonly isNoted?: boolean;
}

/** What the restore has made in this directory. */
export async function markerOf(dataDir: string, manifest: Manifest, made: Made): Promise<Marker> {
  const { dataDir: _, named: __, repeat: ___, ...asked } = made;
  const { id, content } = manifest;
  const revision = revisionOf(manifest);
  const [identity, wal] = [await walIdentity(dataDir), await walState(dataDir)];
  return {
    ...{ id, sha256: content.sha256, ...asked, ...identity },
    ...(revision !== undefined && { revision: revision + made.bumpRevision }),
    ...(wal && { wal }),
    at: new Date().toISOString(),
  };
}

/** As a whole or not at all: etcd may have been started beside it. */
export const writeMarker = (dataDir: string, marker: Marker): Promise<void> =>
  replaceFile(join(dataDir, MARKER), `${JSON.stringify(marker)}\n`);

/** Another restore may have put its own data here meanwhile: then that, or the next start, marks it. */
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
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return undefined;
    throw new AgentError(
      ExitCode.refused,
      `${file} cannot be read (${codeOf(error) ?? 'it is no JSON'}), so nobody knows what was restored here; --again restores, and moves what is there aside`,
      { cause: error },
    );
  }
}

/** Settings that another restore would not have made the same of, each with what it was. */
export function differences(marker: Marker, { id, sha256 }: Asked, request: DataDirRequest): string[] {
  const { name, initialCluster, initialAdvertisePeerUrls, initialClusterToken, bumpRevision } = request;
  const differs = (flag: string, was: unknown, now: unknown) =>
    was === now ? [] : [`${flag} was ${was ?? 'not given'}, and is ${now ?? 'not given'}`];
  return [
    // Whoever names none takes what was the newest at the time.
    ...(request.named && id !== undefined ? differs('the snapshot', marker.id, id) : []),
    ...(request.named && sha256 !== undefined && [marker.id, undefined].includes(id)
      ? differs('its sha256', marker.sha256, sha256)
      : []),
    ...differs('--name', marker.name, name),
    ...differs('--initial-cluster', sorted(marker.initialCluster), sorted(initialCluster)),
    ...differs(
      '--initial-advertise-peer-urls',
      sorted(marker.initialAdvertisePeerUrls),
      sorted(initialAdvertisePeerUrls),
    ),
    ...differs('--initial-cluster-token', marker.initialClusterToken, initialClusterToken),
    ...(bumpRevision === undefined ? [] : differs('--bump-revision', marker.bumpRevision, bumpRevision)),
  ];
}

const sorted = (list: string | undefined) => list?.split(',').sort().join(',');

/** What has become of the data since the restore. */
export interface Change {
  readonly what: string;
  /** They are the member's own still: etcd has run on them. */
  readonly byEtcd: boolean;
}

/** Undefined when they are as the restore made them. */
export async function changeSince({ wal, clusterId, memberId }: Marker, dataDir: string): Promise<Change | undefined> {
  const lost = (what: string) => ({ what, byEtcd: false });
  if (!(await stat(join(dataDir, 'member', 'snap', 'db')).catch(() => undefined))) return lost('its database is gone');
  const identity = await walIdentity(dataDir).catch(() => undefined);
  if (!identity) return lost('its log is gone');
  if (identity.clusterId !== clusterId || identity.memberId !== memberId) {
    return lost(`it holds member ${identity.memberId} of cluster ${identity.clusterId}`);
  }
  // A running etcd is writing to it, or one was killed at it.
  const now = await walState(dataDir).catch(() => undefined);
  if (now && now.lastIndex === wal?.lastIndex && now.commit === wal.commit && now.term === wal.term) return undefined;
  const log = now
    ? `its log is at index ${now.lastIndex}, and was at ${wal?.lastIndex ?? 'none'}`
    : 'its log ends within a record';
  return { what: `etcd has written to it: ${log}`, byEtcd: true };
}
