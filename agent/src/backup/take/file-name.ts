import { usageError } from '../../lib/errors.ts';
import { folderOf } from '../catalog/identity/folder.ts';
import type { SnapshotManifest } from '../catalog/manifest.ts';
import { extensions } from '../payload/compression.ts';
import { ENCRYPTED } from '../payload/encryption.ts';
import type { StoreRequest } from './request.ts';

const FIELDS = {
  Y: 'year',
  m: 'month',
  d: 'day',
  H: 'hour',
  M: 'minute',
  S: 'second',
} as const;

const mistake = (message: string) => usageError(message, { at: 'fileName' });

/** Formats the name of an export by the user's strftime pattern: %Y %m %d %H %M %S, and %% for a percent sign. */
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

/** What follows the name of a payload in its folder. */
export const endingOf = ({ compression, recipients = [] }: StoreRequest): string =>
  `${extensions[compression]}${recipients.length > 0 ? ENCRYPTED : ''}`;

/** The exports that a request asks for. `taken`: names in the folder. */
export function exportsOf(
  request: StoreRequest,
  taken: () => ReadonlySet<string>,
  now: Date,
): SnapshotManifest['exports'] {
  const { key, fileName, fileNameTimeZone } = request;
  if (key) return [{ key, kept: true }];
  if (!fileName) return undefined;
  const name = freeFileName(formatFileName(fileName, now, fileNameTimeZone), taken());
  return [{ key: `${folderOf(request)}/${name}${endingOf(request)}` }];
}
