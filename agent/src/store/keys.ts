import { randomBytes } from 'node:crypto';
import { AgentError, ExitCode, usageError } from '../lib/errors.ts';

const mistake = (key: string, why: string) =>
  usageError(`the key ${JSON.stringify(key)} ${why}; write segments joined by single slashes`);

/** Error of a put with `onlyNew` if the key exists. */
export const exists = (url: string, key: string) => new AgentError(ExitCode.refused, `${url} already has ${key}`);

function checkSegments(key: string, segments: readonly string[]): void {
  if (segments.some((segment) => segment === '')) throw mistake(key, 'has an empty segment');
  if (segments.some((segment) => segment === '.' || segment === '..')) throw mistake(key, 'has a segment . or ..');
  if (/\p{Cc}/u.test(key) || !key.isWellFormed()) throw mistake(key, 'has a control character');
}

/** Throws a usage error for a key that would lead out of the store, or that `list` would not return unchanged. */
export function checkKey(key: string): void {
  checkSegments(key, key.split('/'));
}

/** Throws a usage error for an invalid prefix. A prefix may be empty or end in the middle of a segment. */
export function checkPrefix(prefix: string): void {
  checkSegments(prefix, prefix.split('/').slice(0, -1));
}

/** Suffix of an unfinished file. */
export const PART = '.part';

/** Unfinished files of this project have a random infix. Only these are swept. */
export const OUR_PART = /\.[0-9a-f]{8}\.part$/;

export const partName = (path: string) => `${path}.${randomBytes(4).toString('hex')}${PART}`;

/** Throws a usage error for a key that a store of files reserves for unfinished files. */
export function checkNoPart(key: string): void {
  if (key.endsWith(PART)) throw usageError(`the key ${key} ends in ${PART}, which is reserved for unfinished files`);
}
