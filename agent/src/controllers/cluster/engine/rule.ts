import type { Reason } from '../../../protocol/reasons.ts';
import type { Effect, EffectKind } from '../../port/effect.ts';
import type { View } from './view.ts';

export interface Guard<S> {
  (view: View, subject: S): boolean;
  /** Why the table decides the same without this guard. `npm run suite -- model-mutants` fails if that is wrong. */
  readonly implied?: string;
}

/** Named conditions, all of which must hold, evaluated in order. The names appear in the log and in the docs. */
export type Guards<S> = Record<string, Guard<S>>;

/** A guard that other rules or guards imply: a second check, or a check whose name explains a wait. */
export const implied = <S = undefined>(why: string, holds: (view: View, subject: S) => boolean): Guard<S> =>
  Object.assign((view: View, subject: S): boolean => holds(view, subject), { implied: why });

/** One line of the table: when it is wanted, what it requires, and its one effect. */
export interface Rule<S = unknown> {
  /** `Operation.step`. */
  name: string;
  /** The candidates for its subject, such as ordinals or members: the first for which every guard holds is taken. Default: the cluster. */
  each?: (view: View) => readonly S[];
  /** The action is wanted. */
  when: Guards<S>;
  /** The action is safe now. While one of these does not hold, the rule is skipped and logged as waiting; lower rules are still tried. */
  requires: Guards<S>;
  effect?: (view: View, subject: S) => Effect;
  /** The kind of that effect. */
  does?: EffectKind;
  /** Instead of an effect: the reason why no rule below this one is tried. */
  hold?: Reason | ((view: View, subject: S) => Reason);
  /** The state of the operation before and after, for the diagram. */
  from?: string | readonly string[];
  to?: string | readonly string[];
}

// A list holds rules with different subjects; the functions of one rule agree among themselves.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type AnyRule = Rule<any>;

type Written<S> = Omit<Rule<S>, 'when' | 'requires'> & Partial<Pick<Rule<S>, 'when' | 'requires'>>;

export const rule = <S = undefined>(written: Written<S>): AnyRule => ({ when: {}, requires: {}, ...written });

/** What the steps of one stage of an operation have in common. */
type Shared = Partial<Pick<AnyRule, 'when' | 'from' | 'to'>>;

/** Steps of an operation in flight, in the order in which they are tried. The shared guards come before each step's own. */
export const steps = (shared: Shared, rules: readonly AnyRule[]): AnyRule[] =>
  rules.map((each) => ({ ...shared, ...each, when: { ...shared.when, ...each.when } }));
