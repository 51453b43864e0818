/** The value of a key that comes from outside: `constructor` is in every object, but belongs to none. */
export const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;
