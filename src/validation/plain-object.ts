/** Returns true for an object that is neither null nor a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names that cdk8s takes for something else in an object: it writes no field with them. */
export const isReserved = (name: string): boolean => name === 'constructor' || name === '__proto__';

/** JSON in which the order of fields does not count: an API server returns them in another one. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
