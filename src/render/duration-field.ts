import { Duration } from 'cdk8s';
import type { Fields } from './fields';

const units: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration as the agent reads it: `30d`, `1h30m`, `1500ms`; undefined when it is none. */
export function parseDuration(text: string): Duration | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return undefined;
  return Duration.millis(parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * units[unit!]!, 0));
}

export function durationField(fields: Fields | undefined, key: string): Duration | undefined {
  const text = fields?.text(key);
  if (fields === undefined || text === undefined) return undefined;
  const duration = parseDuration(text);
  if (!duration)
    fields.report.error(fields.at(key), `'${text}' is not a valid duration; write it like 90s, 1h30m or 30d`);
  return duration;
}
