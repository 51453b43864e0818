import { Draw } from './draw';
import type { DrawnFault } from './fault';
import { type Kind, kinds } from './faults';

/** Time to form the cluster before, and to judge it after. */
const aroundSeconds = 120;

export interface PlanOptions {
  /** Approximate duration. A shorter plan is the beginning of a longer one. */
  readonly minutes: number;
  /** With faults that need NODE_DRIVER. */
  readonly nodes?: boolean;
  /** Only quick faults. */
  readonly smoke?: boolean;
}

/** One fault, or two at once. Afterwards the cluster must recover. */
export interface Step {
  /** From 1. */
  readonly number: number;
  /** Seconds without a fault before it. */
  readonly pause: number;
  /** Faults, each after this number of seconds. */
  readonly faults: readonly (DrawnFault & { readonly kind: string; readonly after: number })[];
  readonly what: string;
}

/** Returns the steps. They depend only on the seed and these options. */
export function plan(seed: number, options: PlanOptions): Step[] {
  const draw = new Draw(seed);
  const possible = possibleKinds(options);
  const inTurn = turns(draw, possible);
  const steps: Step[] = [];
  let left = options.minutes * 60 - aroundSeconds;
  do {
    const first = inTurn.next().value;
    const beside = possible.filter((kind) => kind.atMost === undefined && goTogether(first, kind));
    const second = beside.length > 0 && draw.oneIn(3) ? draw.one(beside) : undefined;
    const pause = draw.between(2, 20);
    const after = draw.between(0, 20);
    const faults = [
      { ...first.fault(draw), kind: first.name, after: 0 },
      ...(second ? [{ ...second.fault(draw), kind: second.name, after }] : []),
    ];
    steps.push({ number: steps.length + 1, pause, faults, what: told(faults) });
    left -= pause + Math.max(first.seconds, second ? after + second.seconds : 0);
  } while (left > 0);
  return steps;
}

const told = (faults: Step['faults']): string =>
  faults.map(({ what, after }, index) => (index === 0 ? what : `${after} s later ${what}`)).join('; ');

export const possibleKinds = ({ nodes = false, smoke = false }: Omit<PlanOptions, 'minutes'>): Kind[] =>
  kinds.filter((kind) => (nodes || !kind.needsNodes) && (kind.quick || !smoke));

/** Each kind comes once, in any order, before any is repeated. */
function* turns(draw: Draw, possible: readonly Kind[]): Generator<Kind, never> {
  const times = new Map<Kind, number>();
  for (;;) {
    for (const kind of draw.shuffled(possible)) {
      const before = times.get(kind) ?? 0;
      if (before === kind.atMost) continue;
      times.set(kind, before + 1);
      yield kind;
    }
  }
}

/** Two faults together break no quorum, unless one of them does so on purpose, and do not block each other. */
export function goTogether(one: Kind, other: Kind): boolean {
  if (one === other || one.alone || other.alone) return false;
  if (one.notBeside?.includes(other.name) || other.notBeside?.includes(one.name)) return false;
  if (one.applies && other.applies) return false;
  if ((one.needsQuorum && other.takes > 1) || (other.needsQuorum && one.takes > 1)) return false;
  return one.takes === 0 || other.takes === 0;
}
