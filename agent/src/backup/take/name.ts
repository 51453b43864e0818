import { usageError } from '../../lib/errors.ts';
import { folderOf } from '../catalog/identity/folder.ts';
import { reservationKey } from '../catalog/keys.ts';
import { newSnapshotId } from '../catalog/snapshot-id.ts';
import { extensions } from '../payload/compression.ts';
import { ENCRYPTED } from '../payload/encryption.ts';
import { besideKey } from './exact-key.ts';
import { discard, reserve } from './markers.ts';
import type { StoreRequest } from './request.ts';
import { attempt, type TargetRun } from './target-run.ts';

const FIELDS = {
  Y: 'year',
  m: 'month',
  d: 'day',
  H: 'hour',
  M: 'minute',
  S: 'second',
} as const;

const mistake = (message: string) => usageError(message, { at: 'fileName' });

/** Formats a snapshot's name by the user's strftime pattern: %Y %m %d %H %M %S, and %% for a percent sign. */
export function formatFileName(pattern: string, now: Date, timeZone: string): string {
  const parts = new Map(
    formatter(timeZone)
      .formatToParts(now)
      .map(({ type, value }) => [type, value]),
  );
  const name = pattern.replaceAll(/%(.?)/g, (_, field: string) => {
    if (field === '%') return '%';
    const part = FIELDS[field as keyof typeof FIELDS];
    if (!part) throw mistake(`'%${field}' is not known; use %Y %m %d %H %M %S`);
    return parts.get(part) ?? '';
  });
  if (!/^[A-Za-z0-9][A-Za-z0-9_+-]{0,199}$/.test(name)) {
    throw mistake(`'${name}' is not a valid name; use only letters, digits, '-', '_' and '+', without an extension`);
  }
  return name;
}

function formatter(timeZone: string): Intl.DateTimeFormat {
  const two = '2-digit';
  try {
    return new Intl.DateTimeFormat('en', {
      timeZone,
      hourCycle: 'h23',
      ...{ year: 'numeric', month: two, day: two, hour: two, minute: two, second: two },
    });
  } catch {
    throw usageError(`'${timeZone}' is not an IANA time zone; write it like Europe/Berlin or Etc/UTC`, {
      at: 'fileNameTimeZone',
    });
  }
}

/** Returns the name, with `-1`, `-2`, … appended if it is already taken. */
function freeFileName(name: string, taken: ReadonlySet<string>): string {
  for (let attempt = 0; ; attempt++) {
    const candidate = attempt === 0 ? name : `${name}-${attempt}`;
    if (!taken.has(candidate)) return candidate;
  }
}

/**
 * Returns the snapshot's id. A user-defined name is reserved in every store that still takes part, so that only one of
 * several concurrent runs gets it.
 */
export async function nameSnapshot(
  { fileName, fileNameTimeZone }: StoreRequest,
  runs: readonly TargetRun[],
  taken: Set<string>,
  now: Date,
): Promise<string> {
  if (!fileName) return newSnapshotId(now);
  const name = formatFileName(fileName, now, fileNameTimeZone);
  for (;;) {
    const candidate = freeFileName(name, taken);
    const got: TargetRun[] = [];
    await attempt(runs, async (run) => {
      if (await reserve(run.folder, candidate)) got.push(run);
      else taken.add(candidate);
    });
    if (!taken.has(candidate)) return candidate;
    await Promise.all(got.map(({ folder: { store, path } }) => discard(store, reservationKey(path, candidate))));
  }
}

export function payloadKey(request: StoreRequest, id: string): string {
  const { compression, recipients = [], key } = request;
  if (!key) return `${folderOf(request)}/${id}${extensions[compression]}${recipients.length > 0 ? ENCRYPTED : ''}`;
  return besideKey(key, id);
}
