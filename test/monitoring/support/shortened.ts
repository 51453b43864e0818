import type { Manifest } from '../../synth';

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };
const duration = /^(\d+)([smh])$/;

/**
 * Abstraction: every duration of the rules is divided by this factor – how long an alert has to hold, the windows of rates,
 * and limits that are a number of seconds. promtool checks the real ones, in test/alerts.
 */
export function shortened(groups: readonly Manifest[], factor: number): Manifest[] {
  const seconds = (text: string) => {
    const [, count, unit] = duration.exec(text)!;
    return Math.ceil((Number(count) * units[unit!]!) / factor);
  };
  const shorter = (expr: string) =>
    expr
      .replaceAll(/\[(\w+)\]/g, (_, window: string) => `[${seconds(window)}s]`)
      .replaceAll(/> (\d{3,})\b/g, (_, limit: string) => `> ${Number(limit) / factor}`);
  return groups.map((group) => ({
    ...group,
    rules: group.rules.map((rule: Manifest) => ({
      ...rule,
      expr: shorter(rule.expr),
      for: `${seconds(rule.for)}s`,
    })),
  }));
}
