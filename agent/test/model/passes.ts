import type { Effect } from '../../src/reconcile/effect.ts';
import { known, unknown } from '../../src/reconcile/known.ts';
import type { Observed } from '../../src/reconcile/observed.ts';
import type { Plan } from '../../src/reconcile/plan.ts';
import { apply } from './apply.ts';
import { fresh, violated } from './change.ts';
import { judge } from './judge.ts';
import { A_LITTLE, NOW, see } from './see.ts';
import type { Step } from './steps.ts';
import type { World } from './world.ts';

/** A pass of the reconciler: observe, plan, one effect; and each way in which it can be cut short. */
export interface Planner {
  decide(observed: Observed): Pick<Plan, 'effect' | 'row'>;
  /** With the conditions. */
  plan(observed: Observed): Plan;
}

export interface Pass extends Step {
  readonly row: string;
  readonly step: string;
  /** Everything was seen as it is. */
  readonly clear: boolean;
  readonly kind: 'done' | 'crashBefore' | 'crashAfter' | 'aside';
}

/** All that the reconciler may do now. */
export function passes(world: World, planner: Planner, blurred: boolean): Pass[] {
  const found: Pass[] = [];
  const seen = new Set<string>();
  for (const [how, observed] of sights(world, blurred)) {
    const { effect, row = '?' } = planner.decide(observed);
    if (!effect) continue;
    const key = JSON.stringify(effect);
    // The same effect is one transition, but it may be wrong on what this observation showed.
    if (seen.has(key) && !judge(world, effect, observed)) continue;
    seen.add(key);
    found.push(...outcomes(world, effect, row, how, observed));
  }
  return found;
}

/** The world as a pass may see it: clearly, just begun, or lacking one part. */
export function sights(world: World, blurred: boolean): [string, Observed][] {
  const clear = see(world);
  if (!blurred) return [['', clear]];
  const lacking = (what: string, part: Partial<Observed>): [string, Observed] => [
    ` without ${what}`,
    { ...clear, ...part },
  ];
  const nothing = unknown('no answer');
  const all: [string, Observed][] = [
    ['', clear],
    [' just started', see(world, { young: true })],
    [' new to the lease', { ...clear, since: { ...clear.since, holder: NOW } }],
    [' long after a failure', longAfter(clear)],
    lacking('names that resolve', {
      pods: clear.pods.known ? known(clear.pods.v.map((pod) => ({ ...pod, resolves: known(false) }))) : clear.pods,
    }),
    lacking('the record', { record: nothing }),
    lacking('the EtcdCluster', { cluster: nothing }),
    lacking('the StatefulSet', { statefulSet: nothing }),
    lacking('the pods', { pods: nothing, agents: {} }),
    lacking('the claims', { claims: nothing }),
    lacking('the Jobs', { jobs: nothing }),
    lacking('the EtcdRestores', { restores: nothing }),
    lacking('the alarms', { alarms: nothing }),
  ];
  if (Object.values(clear.status).some((status) => status.known)) all.push([' under load', underLoad(clear)]);
  if (clear.members.known) all.push(lacking('the member list', { members: nothing }));
  for (const i of Object.keys(clear.agents)) {
    const agent = clear.agents[Number(i)]!;
    if (agent.known) all.push(lacking(`agent ${i}`, { agents: { ...clear.agents, [i]: nothing } }));
    if (agent.known && agent.v.request) {
      const busy = known({ ...agent.v, state: 'Init' as const, request: undefined });
      all.push([` while the gate of ${i} has only begun`, { ...clear, agents: { ...clear.agents, [i]: busy } }]);
    }
  }
  for (const id of Object.keys(clear.status)) {
    if (clear.status[id]!.known)
      all.push(lacking(`the status of ${id}`, { status: { ...clear.status, [id]: nothing } }));
  }
  return all;
}

/** Every member answers, and has some entries still to apply. */
function underLoad(clear: Observed): Observed {
  const status = Object.entries(clear.status).map(([id, s]) => [
    id,
    s.known ? known({ ...s.v, appliedIndex: s.v.appliedIndex - A_LITTLE }) : s,
  ]);
  return { ...clear, status: Object.fromEntries(status) };
}

/** An undisturbed pass does not try again what failed: the fair run would never end. */
function longAfter(clear: Observed): Observed {
  const jobFailed = Object.fromEntries(Object.keys(clear.since.jobFailed).map((uid) => [uid, 0]));
  return { ...clear, since: { ...clear.since, failure: 0, jobFailed } };
}

function outcomes(world: World, effect: Effect, row: string, how: string, observed: Observed): Pass[] {
  const wrong = judge(world, effect, observed);
  const base = { ...world, seq: world.seq + 1 };
  const { world: after, error } = apply(base, effect);
  const judged = wrong ? violated(after, wrong) : after;
  const says = `${row}${how}: ${describe(effect)}`;
  const step = stepOf(world);
  const text = error ? `${says} — refused: ${error}` : says;
  const done = error ? judged : remembered(judged, effect);
  const clear = how === '';
  const found: Pass[] = [
    { kind: 'done', row, step, clear, text, next: done },
    { kind: 'crashBefore', row, step, clear, text: `${says} — the reconciler dies before it`, next: crashed(base) },
    { kind: 'crashAfter', row, step, clear, text: `${text} — and the reconciler dies`, next: crashed(judged) },
  ];
  if (!world.late && world.budget.late > 0 && !error) {
    const budget = { ...world.budget, late: world.budget.late - 1 };
    const paused = { ...crashed(base), late: effect, budget };
    found.push({
      kind: 'aside',
      row,
      step,
      clear,
      text: `${says} — is still to come when its sender loses the lease`,
      next: paused,
    });
  }
  return found;
}

export function lateCall(world: World): Step[] {
  if (!world.late) return [];
  const { world: next, error } = apply({ ...world, late: undefined }, world.late);
  const text = `the late call of the old holder arrives: ${describe(world.late)}`;
  return [{ text: error ? `${text} — refused: ${error}` : text, next }];
}

const stepOf = (world: World): string => {
  const op = world.record?.doc.op;
  if (!op) return 'no op';
  return 'step' in op ? `${op.kind}.${op.step}` : op.kind;
};

function crashed(world: World): World {
  const [next, holder] = fresh(world, 'h');
  return { ...next, holder, memory: { done: [] } };
}

function remembered(world: World, effect: Effect): World {
  if (effect.kind !== 'Compact' && effect.kind !== 'Defrag') return world;
  return { ...world, memory: { ...world.memory, done: [...world.memory.done, effect.done] } };
}

export function describe(effect: Effect): string {
  switch (effect.kind) {
    case 'WriteRecord': {
      const { op, epoch, phase, seeded, permits } = effect.doc;
      const opText = op
        ? ` op ${op.kind}${'step' in op ? `.${op.step}` : ''}${'ordinal' in op ? ` ${op.ordinal}` : ''},`
        : '';
      const permitText = Object.values(permits).map((p) => `${p.mode}→${p.ordinal}`);
      return `the record is written:${opText} epoch ${epoch}, ${phase}${seeded ? ', seeded' : ''}, permits ${permitText.join(' ') || 'none'}`;
    }
    case 'ScaleTo':
      return `scale to ${effect.replicas}`;
    case 'CreateJob':
      return `create Job ${effect.job.kind}`;
    default: {
      const { kind, ...rest } = effect as Effect & Record<string, unknown>;
      const shown = Object.entries(rest).filter(([key]) => key !== 'basedOn' && key !== 'peerUrl');
      return `${kind} ${shown.map(([key, value]) => `${key} ${value}`).join(', ')}`;
    }
  }
}
