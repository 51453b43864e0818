/** None of our documents has as many levels. */
const DEEPEST = 100;

/**
 * Whether a parsed document has so many levels that JSON.stringify, a schema or another recursion may fail with a
 * RangeError. JSON.parse itself has no limit.
 */
export function isTooDeep(document: unknown): boolean {
  let level: unknown[] = [document];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return true;
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
  return false;
}
