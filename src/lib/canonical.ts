import { isObject } from '../validation/plain-object.ts';

/** JSON in which the order of fields does not count: an API server returns them in another one. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
