import type { Exploration } from './explore/explorer.ts';

/** A counterexample as a numbered list of events. */
export function story({ scenario, violation }: Exploration): string {
  if (!violation) return '';
  const { what, story: lines } = violation;
  let n = 0;
  const numbered = lines.map((line) => (line.startsWith('—') ? `     ${line}` : `${String(++n).padStart(4)} ${line}`));
  return [`${scenario}: ${what}`, ...numbered].join('\n');
}
