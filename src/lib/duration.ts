import type { Duration } from 'cdk8s';

const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 } as const;

/** A duration as the agent reads it: `30d`, `90m`, `1500ms`. */
export function durationText(duration: Duration): string {
  const amount = milliseconds(duration);
  for (const [unit, size] of Object.entries(units)) {
    if (amount >= size && amount % size === 0) return `${amount / size}${unit}`;
  }
  return `${amount}ms`;
}

/** What is wrong with a duration that must be above zero; undefined when nothing is. */
export function durationProblem(what: string, duration: Duration | undefined): string | undefined {
  if (!duration || milliseconds(duration) > 0) return undefined;
  return `${what}: a duration of zero is no time at all; give more, or leave it out for the default`;
}

/** The same for a Kubernetes field in seconds. */
export function secondsProblem(what: string, duration: Duration | undefined): string | undefined {
  if (duration && milliseconds(duration) % 1_000 !== 0)
    return `${what}: ${durationText(duration)} is no whole number of seconds`;
  return durationProblem(what, duration);
}

/** Unlike `Duration.toMilliseconds()` it takes fractions. */
export function milliseconds(duration: Duration): number {
  return duration.toMilliseconds({ integral: false });
}
