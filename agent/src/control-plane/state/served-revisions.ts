import type { Entry } from '../../backup/catalog/catalog.ts';
import { timeOf } from '../../backup/catalog/passed-over.ts';
import { HIGHEST_REVISION, hasBeyond, knownRevisionOf } from '../../backup/payload/plausible-revision.ts';
import type { RestoreNote } from './noted-restores.ts';

/** A revision that clients may have seen. */
export interface SeenRevision {
  readonly revision: number;
  /** Source of this revision, for errors. */
  readonly where: string;
  readonly clusterId?: string;
  /** For a member that answers: true if it has a leader. */
  readonly hasQuorum?: boolean;
  /** The data began after the snapshot, so they do not show how far the cluster got before. */
  readonly isFresh?: boolean;
}

/** Result of an earlier restore on this node, from a journal or from the data that a killed run prepared. */
export interface OwnRestore {
  readonly id: string;
  readonly token: string;
  readonly bump: number;
  readonly clusterId: string;
  readonly revision: number;
  readonly hasServed: boolean;
  /** Its data lie ready, and no run has used them yet. */
  readonly isPrepared?: boolean;
}

/** What is known without asking for it: a floor for the first revision of a restored cluster. What cannot be read is left out. */
export interface Served {
  /** By the manifests of the backups. */
  readonly inStore: readonly SeenRevision[];
  /** By the data of this node, and the members that it reaches. */
  readonly here: readonly SeenRevision[];
  readonly notes: readonly RestoreNote[];
  /** Ids of restored clusters that served: one of their nodes said so afterwards. */
  readonly marked?: readonly string[];
  /** Why not all notes and marks were read. */
  readonly unread?: string | undefined;
  readonly own: readonly OwnRestore[];
  /** The newest backup, whose time no clock can be behind. */
  readonly newest?: { readonly id: string; readonly time: number };
}

const NOTHING: SeenRevision = { revision: 0, where: 'nothing' };
export const highestOf = (seen: readonly SeenRevision[]): SeenRevision =>
  seen.reduce((highest, each) => (each.revision > highest.revision ? each : highest), NOTHING);

/** What the manifests of the backups say. */
export function servedIn(entries: readonly Entry[]): Pick<Served, 'inStore' | 'newest'> {
  const taken = entries.filter(({ manifest }) => manifest);
  const [newest] = taken
    .map((entry) => ({ id: entry.id, time: timeOf(entry) }))
    .filter(({ time }) => time * 1000 <= HIGHEST_REVISION)
    .sort((a, b) => b.time - a.time);
  const inStore = taken.flatMap(({ id, manifest }) => {
    const revision = knownRevisionOf(manifest);
    return revision === undefined
      ? []
      : [{ revision, where: `the backup ${id}`, clusterId: manifest!.source.clusterId }];
  });
  return { inStore, newest };
}

/** Everything that is known to have been served. What no etcd can have reached is damaged, or a lie. */
export const everySeen = ({ inStore, here, notes, own }: Omit<Served, 'newest'>): SeenRevision[] =>
  [...inStore, ...here, ...seenOf([...notes, ...own])].filter(({ revision }) => hasBeyond(revision));

/** The revisions at which restored clusters began. */
export const seenOf = (
  notes: readonly { readonly id: string; readonly clusterId: string; readonly revision?: number | undefined }[],
): SeenRevision[] =>
  notes.flatMap(({ id, clusterId, revision }) =>
    revision === undefined
      ? []
      : [{ revision, clusterId, where: `the cluster ${clusterId} that was restored from ${id}` }],
  );
