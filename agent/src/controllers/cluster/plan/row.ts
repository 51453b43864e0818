import type { Reason } from '../../../protocol/reasons.ts';
import type { Effect, EffectKind } from '../effect.ts';
import type { View } from './view.ts';

export interface Conjunct<S> {
  (view: View, subject: S): boolean;
  /** Why the table decides the same without it. `npm run model-check:mutants` fails if that is wrong. */
  readonly implied?: string;
}

/** Named conditions, all of which must hold, evaluated in order. The name is the one of the design and of the docs. */
export type Conjuncts<S> = Record<string, Conjunct<S>>;

/** A condition that other rows or conditions imply: a second sight, or there for what is told meanwhile. */
export const implied = <S = undefined>(why: string, holds: (view: View, subject: S) => boolean): Conjunct<S> =>
  Object.assign((view: View, subject: S): boolean => holds(view, subject), { implied: why });

/** One line of the action table: when it is wanted, what it requires, and the one effect that it has. */
export interface Row<S = unknown> {
  /** `Operation.step`. */
  name: string;
  priority: number;
  /** What it may be about (ordinals, members, …): the first for which everything holds. Default: the cluster as one. */
  of?: (view: View) => readonly S[];
  /** The action is wanted. */
  when: Conjuncts<S>;
  /** It is safe now: what is missing here is what the action waits for. */
  requires: Conjuncts<S>;
  effect?: (view: View, subject: S) => Effect;
  /** The kind of that effect. */
  does?: EffectKind;
  /** Instead of an effect: nothing below this row happens. */
  hold?: Reason | ((view: View, subject: S) => Reason);
  /** The state of the operation before and after, for the diagram. */
  from?: string | readonly string[];
  to?: string | readonly string[];
}

// A list holds rows about different things; each row's functions agree among themselves.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type AnyRow = Row<any>;

export const row = <S = undefined>(of: Row<S>): AnyRow => of;
