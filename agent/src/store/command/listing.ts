import type { StoredObject } from '../store.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** One `size<TAB>time<TAB>key`, or undefined when it is something else. */
export function parseListed(line: string): StoredObject | undefined {
  const [size = '', time = '', key, more] = line.split('\t');
  const modified = parseTime(time);
  if (!/^\d{1,15}$/.test(size) || !modified || !key || more !== undefined) return undefined;
  return { key, size: Number(size), modified };
}

/** A time as RFC 3339 writes it. */
export function parseTime(text: string): Date | undefined {
  const time = new Date(TIME.test(text) ? text : Number.NaN);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
