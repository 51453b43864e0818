import type { Reason } from '../../../protocol/reasons.ts';
import type { Effect } from '../../port/effect.ts';
import type { AnyRule, Guards } from './rule.ts';
import type { View } from './view.ts';

/** The rules in the order in which they decide. */
export interface Table {
  readonly rules: readonly AnyRule[];
  readonly rulesWithoutRecord: readonly AnyRule[];
}

export interface Decision {
  /** The one thing to do now; undefined: wait. */
  effect?: Effect;
  /** Name of the rule that decided. */
  rule?: string;
  /** Why nothing is done, if a rule holds. */
  hold?: Reason;
  /** For people: the rule that decided, or the first rule that waits and what it waits for. */
  why: string;
  /** The first rule that waits, and what it waits for. */
  waits?: string;
}

/** The first rule whose guards are all true. */
export function walk(table: readonly AnyRule[], view: View): Decision {
  let waits: string | undefined;
  for (const rule of table) {
    for (const subject of rule.each?.(view) ?? [undefined]) {
      if (missing(rule.when, view, subject) !== undefined) continue;
      const lacks = missing(rule.requires, view, subject);
      if (lacks === undefined) return decided(rule, view, subject, waits);
      if (rule.effect) waits ??= `${rule.name} waits: ${lacks}`;
    }
  }
  return waits === undefined ? { why: 'nothing to do' } : { why: waits, waits };
}

/** The first guard that does not hold. */
function missing(guards: Guards<unknown>, view: View, subject: unknown): string | undefined {
  for (const name in guards) {
    if (!guards[name]!(view, subject)) return name;
  }
  return undefined;
}

function decided(rule: AnyRule, view: View, subject: unknown, waits: string | undefined): Decision {
  if (rule.effect) return { effect: rule.effect(view, subject), rule: rule.name, why: rule.name };
  const hold = typeof rule.hold === 'function' ? rule.hold(view, subject) : rule.hold!;
  return waits === undefined
    ? { rule: rule.name, hold, why: hold }
    : { rule: rule.name, hold, why: `${hold}; ${waits}`, waits };
}
