import { canonical, isObject } from '../../../src/validation/plain-object.ts';

/**
 * Returns a merge patch that turns `before` into `after`: what `after` lacks is null. Unlike an apply, a merge patch is not
 * refused because of a field that the schemas of the API server do not know: such a field is dropped.
 */
export function mergePatch(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) return after;
  const all = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const keys = all.filter((key) => before[key] !== undefined || after[key] !== undefined);
  return Object.fromEntries(
    keys.map((key) => [key, after[key] === undefined ? null : mergePatch(before[key], after[key])]),
  );
}

/** The statuses are equal; the order of their keys does not count. */
export const isSameStatus = (a: object | undefined, b: object): boolean =>
  a !== undefined && canonical(a) === canonical(b);
