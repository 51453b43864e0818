import { checkKey } from '../../store/keys.ts';

/** A key in the root of a store has no folder: its `dirname` is a dot. */
const keyIn = (folder: string, name: string) => (folder === '.' ? name : `${folder}/${name}`);

export const pinKey = (folder: string, id: string) => keyIn(folder, `${id}.pin`);
export const manifestKey = (folder: string, id: string) => keyIn(folder, `${id}.json`);
/** Key of the marker that reserves a user-defined name for the run that is writing a snapshot under it. */
export const reservationKey = (folder: string, name: string) => keyIn(folder, `${name}.reserved`);
/** Beginning of the keys of the markers beside a payload that `adopt` is reading. No leftover is deleted beside a fresh one. */
export const adoptingKeys = (key: string) => `${key}.adopting-`;
/**
 * Key of the marker that a backup writes before its payload and removes after its manifest. A payload without a manifest and
 * without this marker had a manifest, which was lost.
 */
export const takingKey = (folder: string, id: string) => keyIn(folder, `${id}.taking`);
/** Key of the marker that retention has begun to delete a snapshot: a payload beside it is not one whose manifest was lost. */
export const deletingKey = (folder: string, id: string) => keyIn(folder, `${id}.deleting`);
/** The markers of a snapshot whose backup or deletion has not ended. Beside a whole snapshot they mean nothing. */
export const markersOf = (folder: string, id: string): readonly string[] => [
  takingKey(folder, id),
  deletingKey(folder, id),
];
/** Key under which `adopt` keeps a manifest that it replaces. */
export const asideKey = (manifestKey: string, sha256: string) => `${manifestKey}.replaced-${sha256.slice(0, 16)}`;
/** A snapshot under an exact key has its manifest beside it. Retention never deletes it. */
export const exactManifestKey = (key: string) => `${key}.json`;
export const verificationKeyOf = (manifestKey: string) => manifestKey.replace(/\.json$/, '.verify.json');
/** Note that an etcd with this cluster id was restored from the snapshot. Retention follows these notes. */
export const restoreKey = (folder: string, id: string, clusterId: string) =>
  restoreNoteKey(manifestKey(folder, id), clusterId);
export const restoreNoteKey = (manifestKey: string, clusterId: string) =>
  manifestKey.replace(/\.json$/, `.restored-${clusterId}.json`);
/**
 * Note about a restore from a snapshot outside the folder, if no snapshot in the folder is of the same line. The name is that of no
 * snapshot, so that nothing connects the clusters.
 */
export const looseNoteKey = (folder: string, clusterId: string) => `${looseNotes(folder)}${clusterId}.json`;
export const looseNotes = (folder: string) => `${folder}/.restored-`;
/** Key of the number on which the nodes of a restore agree, beside the note of one of its clusters. */
export const agreementKey = (noteKey: string, hash: string) => noteKey.replace(restoreNote, `.agreed-${hash}.json`);
/** Ending of the key of a note: what it is, and the ids of the cluster and of the member whose restore it notes, or the hash of an agreement. */
export const restoreNote = /\.(restored|agreed)-([0-9a-f]+)(?:-([0-9a-f]+))?\.json$/;
export const isRestoreNote = (key: string): boolean => restoreNote.test(key);
/** The cluster whose restore the object notes. Undefined for the note of a single member, and for an agreement. */
export const restoredCluster = (key: string): string | undefined => clusterNoted(key, false);
/** The cluster of which the object notes a member. */
export const clusterOfMember = (key: string): string | undefined => clusterNoted(key, true);

function clusterNoted(key: string, isMember: boolean): string | undefined {
  const [, what, clusterId, memberId] = restoreNote.exec(key) ?? [];
  return what === 'restored' && isMember === (memberId !== undefined) ? clusterId : undefined;
}

/** Note that this member was restored, beside the note of its cluster. */
export const memberNoteKey = (noteKey: string, memberId: string) => noteKey.replace(/\.json$/, `-${memberId}.json`);
export const isMemberNote = (key: string, clusterId: string, memberId: string): boolean =>
  key.endsWith(`.restored-${clusterId}-${memberId}.json`);

/**
 * Whether a store accepts the key. A damaged or forged manifest may name any text, and a store throws on an invalid
 * key.
 */
export function isValidKey(key: string): boolean {
  try {
    checkKey(key);
    return true;
  } catch {
    return false;
  }
}

/** Whether the key is valid and lies in the folder itself, not in another folder or in one below. */
export const isInFolder = (folder: string, key: string): boolean =>
  key.startsWith(`${folder}/`) && !key.slice(folder.length + 1).includes('/') && isValidKey(key);
