import * as z from 'zod/mini';
import { tryDuration } from '../lib/input/duration.ts';

const keep = z.optional(z.int().check(z.positive('must be at least 1; leave it out to keep none by this rule')));

/**
 * How many snapshots to keep. Each field has the meaning that restic gives it. A snapshot that any field keeps is
 * kept.
 */
export const retentionSpec = z
  .strictObject({
    last: keep,
    /** Keeps everything taken within this duration before the newest snapshot. */
    within: z.optional(
      z.string().check(z.refine((text) => !!tryDuration(text), 'must be a duration above zero such as 30d')),
    ),
    hourly: keep,
    daily: keep,
    weekly: keep,
    monthly: keep,
    yearly: keep,
    /** Smallest number of snapshots that is left. Default: 3, or `last` if it is the only rule and smaller than 3. */
    minKeep: keep,
    /** Time zone of the calendar buckets, an IANA name. Default: UTC. */
    timeZone: z.optional(
      z.string().check(z.refine(isTimeZone, 'is not an IANA time zone; write it like Europe/Berlin or Etc/UTC')),
    ),
  })
  .check(
    z.refine(
      (spec) => [spec.last, spec.within, spec.hourly, spec.daily, spec.weekly, spec.monthly, spec.yearly].some(Boolean),
      'a retention must keep something: give last, within, hourly, daily, weekly, monthly or yearly',
    ),
  );
export type RetentionSpec = z.infer<typeof retentionSpec>;

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
