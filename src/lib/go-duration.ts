import type { Duration } from 'cdk8s';
import { milliseconds } from './duration';

const units = { h: 3_600_000, m: 60_000, s: 1_000 } as const;

/** A duration as Go reads it, which knows no days: `48h`, `90m`, `1500ms`. */
export function goDuration(duration: Duration): string {
  const amount = milliseconds(duration);
  for (const [unit, size] of Object.entries(units)) {
    if (amount >= size && amount % size === 0) return `${amount / size}${unit}`;
  }
  return `${amount}ms`;
}
