/**
 * Returns a merge patch that turns `before` into `after`: what `after` lacks is null. Unlike an apply, a merge patch is not
 * refused because of a field that the schemas of the API server do not know: such a field is dropped.
 */
export function mergePatch(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) return after;
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return Object.fromEntries(
    keys.map((key) => [key, after[key] === undefined ? null : mergePatch(before[key], after[key])]),
  );
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The statuses are equal; the order of their keys does not count. */
export const isSameStatus = (a: object | undefined, b: object): boolean =>
  a !== undefined && canonical(a) === canonical(b);

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    inner && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
