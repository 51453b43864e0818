import { AgentError, ExitCode } from '../lib/errors.ts';

const mistake = (key: string, why: string) =>
  new AgentError(ExitCode.usage, `the key ${JSON.stringify(key)} ${why}; write segments joined by single slashes`);

/** What `onlyNew` refuses with. */
export const exists = (url: string, key: string) => new AgentError(ExitCode.refused, `${url} has ${key} already`);

function checkSegments(key: string, segments: readonly string[]): void {
  if (segments.some((segment) => segment === '')) throw mistake(key, 'has an empty segment');
  if (segments.some((segment) => segment === '.' || segment === '..')) throw mistake(key, 'has a segment . or ..');
  if (/\p{Cc}/u.test(key) || !key.isWellFormed()) throw mistake(key, 'has a control character');
}

/** Keys become paths and URLs: refuses what would lead out of the store or not come back the same from `list`. */
export function checkKey(key: string): void {
  checkSegments(key, key.split('/'));
}

/** A prefix may end in the middle of a segment, or be empty. */
export function checkPrefix(prefix: string): void {
  checkSegments(prefix, prefix.split('/').slice(0, -1));
}
