import type { Observed } from '../../src/controllers/cluster/observed.ts';
import type { Actions } from '../../src/controllers/cluster/plan/plan.ts';
import type { AnyRow, Conjuncts } from '../../src/controllers/cluster/plan/row.ts';
import { View } from '../../src/controllers/cluster/plan/view.ts';
import { NOW } from './see.ts';
import { settings } from './settings.ts';

/** The action table with one conjunct of one row left out. */
export interface Mutant {
  /** `Row: conjunct`, and which of the two lists it stands in. */
  readonly name: string;
  readonly row: string;
  readonly actions: Actions;
  /** Why it decides as plan() does, if that is said beside the conjunct. */
  readonly implied?: string;
}

const PARTS = ['when', 'requires'] as const;
type Part = (typeof PARTS)[number];

const nameOf = (row: AnyRow, part: Part, conjunct: string): string => `${row.name} · ${part} · ${conjunct}`;

export function mutantsOf({ rows, rowsWithoutRecord }: Actions): Mutant[] {
  const all = new Set([...rows, ...rowsWithoutRecord]);
  return [...all].flatMap((row) =>
    PARTS.flatMap((part) =>
      Object.keys(row[part]).map((conjunct): Mutant => {
        const { [conjunct]: dropped, ...left } = row[part];
        const mutated = { ...row, [part]: left };
        const swap = (list: readonly AnyRow[]): AnyRow[] => list.map((r) => (r === row ? mutated : r));
        return {
          name: nameOf(row, part, conjunct),
          row: row.name,
          implied: dropped?.implied,
          actions: { rows: swap(rows), rowsWithoutRecord: swap(rowsWithoutRecord) },
        };
      }),
    ),
  );
}

/** Which mutants decide otherwise here: those of a row above the winner that lacks one conjunct alone. */
export function divergent({ rows, rowsWithoutRecord }: Actions, observed: Observed): string[] {
  const { cluster, record } = observed;
  if (!cluster.known || !cluster.v || !record.known) return [];
  const view = new View(observed, NOW, settings);
  const found: string[] = [];
  for (const row of record.v ? rows : rowsWithoutRecord) {
    for (const subject of row.of?.(view) ?? [undefined]) {
      const lacking = lacks(row, view, subject);
      if (lacking.length === 0) return found;
      if (lacking.length === 1) found.push(lacking[0]!);
    }
  }
  return found;
}

/** Up to two names; a conjunct that cannot be asked once another failed counts as holding: the mutant throws. */
function lacks(row: AnyRow, view: View, subject: unknown): string[] {
  const found: string[] = [];
  for (const part of PARTS) {
    for (const [name, holds] of Object.entries(row[part] as Conjuncts<unknown>)) {
      if (isTrue(() => holds(view, subject), found.length > 0)) continue;
      found.push(nameOf(row, part, name));
      if (found.length > 1) return found;
    }
  }
  return found;
}

function isTrue(ask: () => boolean, mayThrow: boolean): boolean {
  try {
    return ask();
  } catch (error) {
    if (mayThrow) return true;
    throw error;
  }
}
