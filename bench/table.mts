import type { Cost } from './measure.mts';

/** Costs of each way, in the order of the rounds. */
export type Costs = ReadonlyMap<string, readonly Cost[]>;

export const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
export const spread = (values: readonly number[], digits: number) =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`;

/** Within each round, because other work makes a machine faster and slower. */
export function ratios(costs: Costs, way: string, reference: string, of: 'wall' | 'cpu'): number[] {
  const ours = costs.get(way)!;
  return costs.get(reference)!.map((cost, round) => ours[round]![of] / cost[of]);
}

export const medianRatio = (...which: Parameters<typeof ratios>): number => median(ratios(...which));

/** Median, minimum and maximum of each way; wall and CPU time also relative to the reference in the same round. */
export function table(costs: Costs, reference: string): string {
  const header = ['', 'wall s', 'CPU s', 'RSS MiB', 'own MiB', 'disk MiB', `wall ÷ ${reference}`, `CPU ÷ ${reference}`];
  const rows = [...costs].map(([way, rounds]) => [
    way,
    spread(
      rounds.map(({ wall }) => wall),
      1,
    ),
    spread(
      rounds.map(({ cpu }) => cpu),
      1,
    ),
    Math.max(...rounds.map(({ resident }) => resident)).toFixed(0),
    Math.max(...rounds.map(({ memory }) => memory)).toFixed(0),
    Math.max(...rounds.map(({ disk }) => disk)).toFixed(0),
    spread(ratios(costs, way, reference, 'wall'), 2),
    spread(ratios(costs, way, reference, 'cpu'), 2),
  ]);
  const lines = [header, header.map(() => '---'), ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`).join('\n');
}
