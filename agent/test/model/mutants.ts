import type { AnyRule, Guards } from '../../src/controllers/cluster/engine/rule.ts';
import type { Table } from '../../src/controllers/cluster/engine/table.ts';
import { View } from '../../src/controllers/cluster/engine/view.ts';
import type { Observed } from '../../src/controllers/port/observed.ts';
import { settings } from './settings.ts';
import { NOW } from './world/see.ts';

/** The table with one guard of one rule left out. */
export interface Mutant {
  /** `Rule: guard`, and which of the two lists it stands in. */
  readonly name: string;
  readonly rule: string;
  readonly actions: Table;
  /** Why it decides as plan() does, if the guard says so. */
  readonly implied?: string;
}

const PARTS = ['when', 'requires'] as const;
type Part = (typeof PARTS)[number];

const nameOf = (rule: AnyRule, part: Part, guard: string): string => `${rule.name} · ${part} · ${guard}`;

export function mutantsOf({ rules, rulesWithoutRecord }: Table): Mutant[] {
  const all = new Set([...rules, ...rulesWithoutRecord]);
  return [...all].flatMap((rule) =>
    PARTS.flatMap((part) =>
      Object.keys(rule[part]).map((guard): Mutant => {
        const { [guard]: dropped, ...left } = rule[part];
        const mutated = { ...rule, [part]: left };
        const swap = (list: readonly AnyRule[]): AnyRule[] => list.map((r) => (r === rule ? mutated : r));
        return {
          name: nameOf(rule, part, guard),
          rule: rule.name,
          implied: dropped?.implied,
          actions: { rules: swap(rules), rulesWithoutRecord: swap(rulesWithoutRecord) },
        };
      }),
    ),
  );
}

/** The mutants that decide otherwise here: those of a rule above the winner for which exactly one guard fails. */
export function divergent({ rules, rulesWithoutRecord }: Table, observed: Observed): string[] {
  const { cluster, record } = observed;
  if (!cluster.known || !cluster.v || !record.known) return [];
  const view = new View(observed, NOW, settings);
  const found: string[] = [];
  for (const rule of record.v ? rules : rulesWithoutRecord) {
    for (const subject of rule.each?.(view) ?? [undefined]) {
      const lacking = lacks(rule, view, subject);
      if (lacking.length === 0) return found;
      if (lacking.length === 1) found.push(lacking[0]!);
    }
  }
  return found;
}

/** Up to two names of guards that fail. A guard that throws after another has failed counts as holding. */
function lacks(rule: AnyRule, view: View, subject: unknown): string[] {
  const found: string[] = [];
  for (const part of PARTS) {
    for (const [name, holds] of Object.entries(rule[part] as Guards<unknown>)) {
      if (isTrue(() => holds(view, subject), found.length > 0)) continue;
      found.push(nameOf(rule, part, name));
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
