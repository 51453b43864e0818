import { usageError } from '../errors.ts';

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Parses `90s`, `1m30s`, `24h`, `7d` into milliseconds; undefined if the text is not a valid duration. */
export function tryDuration(text: string): number | undefined {
  if (!/^(\d+(?:\.\d+)?(?:ms|[smhdw]))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)) {
    sum += Number(number) * units[unit as keyof typeof units];
  }
  return sum;
}

/**
 * Parses a duration above zero into milliseconds. Throws a usage error that begins with `what`, the name of the flag.
 */
export function parseDuration(text: string, what: string): number {
  const duration = tryDuration(text);
  if (!duration) throw usageError(`${what}: '${text}' is not a valid duration above zero; write 90s, 5m or 24h`);
  return duration;
}
