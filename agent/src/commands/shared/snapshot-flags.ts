import * as z from 'zod/mini';
import type { SnapshotManifest } from '../../backup/catalog/manifest.ts';
import { usageError } from '../../lib/errors.ts';
import type { Settings } from '../cli/settings.ts';

/** Id of the snapshot that the user has named; undefined for the newest verified one. */
export function askedId(settings: Settings): string | undefined {
  const id = settings.args[0] ?? settings.text('snapshot');
  return id === 'latest' ? undefined : id;
}

/** Value of `--sha256`: the expected SHA-256 of the plain snapshot. */
export const sha256Flag = (settings: Settings): string | undefined => {
  const given = settings.text('sha256');
  return given === undefined ? undefined : sha256('--sha256', given);
};

/** `shown`: the value as the error shows it. */
export function sha256(flag: string, given: string, shown = `'${given}'`): string {
  const text = given.toLowerCase();
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw usageError(`${flag}: ${shown} is not a valid SHA-256; pass its 64 hex digits`);
}

export function bumpFlag(settings: Settings): number | undefined {
  const given = settings.text('bumpRevision');
  if (given === undefined) return undefined;
  const bump = Number(given);
  if (Number.isSafeInteger(bump) && bump >= 0) return bump;
  throw usageError(`--bump-revision: '${given}' is not a valid number of revisions; pass a whole number, 0 or more`);
}

/** Value of `--latest-verified-before`. A time zone is required, so that the value means the same moment everywhere. */
export function beforeFlag(settings: Settings): Date | undefined {
  const text = settings.text('latestVerifiedBefore');
  if (text === undefined) return undefined;
  const found = z.iso.datetime({ offset: true }).safeParse(text);
  if (found.success) return new Date(found.data);
  throw usageError(
    `--latest-verified-before: '${text}' is not a time with a time zone; write it like 2026-11-21T02:30:00Z`,
  );
}

/**
 * Returns the argument that a command needs so that every member restores the same snapshot; undefined if it has one. A
 * key alone is not enough: the object at a key can be replaced, and the id of an adopted file is derived from its key.
 */
export function missingName(settings: Settings, { id, content }: SnapshotManifest): string | undefined {
  if (sha256Flag(settings) !== undefined) return undefined;
  if (settings.text('objectKey') !== undefined) return `--sha256=${content.sha256}`;
  return askedId(settings) === undefined ? id : undefined;
}
