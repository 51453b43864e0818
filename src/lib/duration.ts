import { Duration } from 'cdk8s';

const goUnits = { h: 3_600_000, m: 60_000, s: 1_000 } as const;
const agentUnits = { d: 86_400_000, ...goUnits } as const;

/** Returns a duration as the agent reads it: `30d`, `90m`, `1500ms`, `0s`. */
export function durationText(duration: Duration): string {
  return inUnits(duration, agentUnits);
}

/** Returns a duration as Go reads it. Go has no unit for days: `48h`, `90m`, `1500ms`. */
export function goDuration(duration: Duration): string {
  return inUnits(duration, goUnits);
}

const millisecondsOf: { readonly [unit: string]: number } = { ms: 1, ...agentUnits, w: 7 * agentUnits.d };

/** Parses a duration in the agent's format: `30d`, `1h30m`, `1500ms`. Returns undefined if it is invalid. */
export function parseDuration(text: string): Duration | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return undefined;
  return Duration.millis(parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * millisecondsOf[unit!]!, 0));
}

function inUnits(duration: Duration, units: Readonly<Record<string, number>>): string {
  const amount = milliseconds(duration);
  if (amount === 0) return '0s';
  for (const [unit, size] of Object.entries(units)) {
    if (amount >= size && amount % size === 0) return `${amount / size}${unit}`;
  }
  return `${amount}ms`;
}

/** Problem with a duration that must be above zero, or undefined. */
export function durationProblem(what: string, duration: Duration | undefined): string | undefined {
  if (!duration || milliseconds(duration) > 0) return undefined;
  return `${what}: a duration of zero is not valid; give more, or leave it out for the default`;
}

/** Problem with the duration of a Kubernetes field, which must be above zero and in whole seconds, or undefined. */
export function secondsProblem(what: string, duration: Duration | undefined): string | undefined {
  return roundProblem(what, duration) ?? durationProblem(what, duration);
}

/** Problem with a duration that is not in whole seconds, or undefined. */
export function roundProblem(what: string, duration: Duration | undefined): string | undefined {
  if (!duration || milliseconds(duration) % 1_000 === 0) return undefined;
  return `${what}: ${durationText(duration)} is not a whole number of seconds; round it`;
}

/** Returns milliseconds, fractions included, where `Duration.toMilliseconds()` throws. */
export function milliseconds(duration: Duration): number {
  return duration.toMilliseconds({ integral: false });
}
