import { canonical } from '../explore/canonical.ts';
import type { Planner } from '../explore/passes.ts';
import type { AddRule } from './etcd.ts';
import { fairMove } from './moves.ts';
import type { Budget, Spec, World } from './world.ts';

/** Worlds to start from. */

export interface Start {
  readonly size: number;
  readonly version?: string;
  /** Ordinals that the world has room for. */
  readonly room?: number;
  readonly rule?: AddRule;
  readonly spec?: Partial<Spec>;
}

const NO_BUDGET: Budget = { faults: 0, edits: 0, writes: 0, late: 0, torn: 0 };

/** All manifests are applied, and nothing has run yet. */
export function nothingYet({ size, version = '3.5.35', room = size, rule = 'quorumConnected', spec }: Start): World {
  const none = Array.from({ length: room }, () => null);
  return {
    seq: 10,
    spec: { uid: 'e#1', rv: 'r#2', size, version, force: [], schedule: true, ...spec },
    sts: { replicas: 1, rv: 'r#3', version, change: 0, minEpoch: 0, seenMinEpoch: 0, ...(spec?.tls && { tls: true }) },
    pods: none,
    claims: none,
    volumes: none,
    clusters: [],
    jobs: [],
    store: [],
    restores: [],
    holder: 'h#4',
    memory: { self: 'p#5', done: [] },
    budget: NO_BUDGET,
    truth: { rule, began: [], seeded: [], served: [], restored: [] },
  };
}

/** The world after a fair run. */
export const settledFrom = (world: World, planner: Planner): World => reached(world, planner, () => false);

/** The world after a fair run until this holds, or to its end. */
export function reached(world: World, planner: Planner, isThere: (world: World) => boolean): World {
  let now = world;
  for (let n = 0; n < 1000; n++) {
    const move = isThere(now) ? undefined : fairMove(now, planner);
    if (!move || canonical(move.next) === canonical(now)) return now;
    now = move.next;
  }
  throw new Error('the fair run to the start of a scenario does not end');
}

const settledWorlds = new WeakMap<Planner, Map<string, World>>();

/** A cluster whose bootstrap is long over. */
export function running(start: Start, planner: Planner): World {
  const known = settledWorlds.get(planner) ?? new Map<string, World>();
  settledWorlds.set(planner, known);
  const key = JSON.stringify(start);
  const world = known.get(key) ?? settledFrom(nothingYet(start), planner);
  known.set(key, world);
  return world;
}

export const withBudget = (world: World, budget: Partial<Budget>): World => ({
  ...world,
  budget: { ...NO_BUDGET, ...budget },
});
