import { named } from '../../../src/controllers/cluster/observe.ts';
import type { Plan } from '../../../src/controllers/cluster/plan.ts';
import type { Effect } from '../../../src/controllers/port/effect.ts';
import type { Observed } from '../../../src/controllers/port/observed.ts';
import { known, unknown } from '../../../src/protocol/known.ts';
import { checkEffect } from '../claims/check-effect.ts';
import { apply } from '../world/apply.ts';
import { fresh, violated } from '../world/change.ts';
import { A_LITTLE, NOW, see } from '../world/see.ts';
import type { Step } from '../world/steps.ts';
import { tornSights } from '../world/torn.ts';
import type { World } from '../world/world.ts';

/** A pass of the reconciler (observe, plan, one effect), and every way in which it can be interrupted. */
export interface Planner {
  decide(observed: Observed): Pick<Plan, 'effect' | 'rule'>;
  /** The same with the conditions. */
  plan(observed: Observed): Plan;
}

export interface Pass extends Step {
  readonly rule: string;
  readonly step: string;
  /** The observation is complete and correct. */
  readonly clear: boolean;
  readonly kind: 'done' | 'crashBefore' | 'crashAfter' | 'late';
}

/** Everything that the reconciler may do now. */
export function passes(world: World, planner: Planner, blurred: boolean, holds?: (rule: string) => void): Pass[] {
  const found: Pass[] = [];
  const seen = new Set<string>();
  if (world.glance) found.push(...tornPasses(world, world.glance, planner));
  for (const [how, observed] of sights(world, blurred)) {
    const { effect, rule } = planner.decide(observed);
    if (!effect && rule) holds?.(rule);
    if (!effect) continue;
    const key = JSON.stringify(effect);
    // Equal effects are one transition, but the effect may be wrong for this observation.
    if (seen.has(key) && !checkEffect(world, effect, observed)) continue;
    seen.add(key);
    found.push(...outcomes(world, effect, rule ?? '?', how, checkEffect(world, effect, observed)));
  }
  return found;
}

/** The ways in which a pass may observe the world: complete, just begun, or lacking one part. */
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
    lacking('the StatefulSet, on the first pass', { statefulSet: nothing, ...nameless(clear) }),
    lacking('a record that can be read', { record: { known: false, why: 'damaged', unreadable: true } }),
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
    if (agent.known && agent.v.gate) {
      const busy = known({ ...agent.v, state: 'Init' as const, reason: undefined, request: undefined, volume: UNREAD });
      all.push([` while the gate of ${i} has only begun`, { ...clear, agents: { ...clear.agents, [i]: busy } }]);
    }
  }
  for (const id of Object.keys(clear.status)) {
    if (clear.status[id]!.known)
      all.push(lacking(`the status of ${id}`, { status: { ...clear.status, [id]: nothing } }));
  }
  return all;
}

/** The volume as a gate reports it that has just started. */
const UNREAD = { walPresent: false, freeBytes: 0, totalBytes: 0, quarantineCount: 0 };

/** The domain of the member names is not known yet. */
function nameless({ cluster }: Observed): Partial<Observed> {
  if (!cluster.known || !cluster.v) return {};
  const { domain: _, ...rest } = cluster.v;
  return { cluster: named(known(rest), unknown('no answer')) };
}

/** Every member answers, and still has some entries to apply. */
function underLoad(clear: Observed): Observed {
  const status = Object.entries(clear.status).map(([id, s]) => [
    id,
    s.known ? known({ ...s.v, appliedIndex: s.v.appliedIndex - A_LITTLE }) : s,
  ]);
  return { ...clear, status: Object.fromEntries(status) };
}

/** An undisturbed pass does not retry failures: the fair run would never end. */
function longAfter(clear: Observed): Observed {
  const jobFailed = Object.fromEntries(Object.keys(clear.since.jobFailed).map((uid) => [uid, 0]));
  return {
    ...clear,
    refused: clear.refused && { ...clear.refused, at: 0 },
    since: { ...clear.since, failure: 0, jobFailed },
  };
}

/** Passes planned on two instants. An effect is right if it is right at one of them, as a late one is. */
function tornPasses(world: World, glance: NonNullable<World['glance']>, planner: Planner): Pass[] {
  const first: World = { ...world, ...glance, glance: undefined };
  return tornSights(first, world).flatMap(([how, observed]) => {
    const { effect, rule } = planner.decide(observed);
    if (!effect) return [];
    const isConflict = apply({ ...world, seq: world.seq + 1 }, effect).error !== undefined;
    const wrong = isConflict ? undefined : wrongAtBoth(first, world, effect, observed);
    return outcomes(world, effect, rule ?? '?', how, wrong).slice(0, 1);
  });
}

const wrongAtBoth = (first: World, second: World, effect: Effect, observed: Observed): string | undefined => {
  const wrong = checkEffect(second, effect, observed);
  if (!wrong) return undefined;
  const { error } = apply({ ...first, seq: second.seq + 1 }, effect);
  if (error === 'conflict') return wrong;
  // Wrong for different reasons, or refused by etcd at the first instant: it may have been right in between.
  return error === undefined && checkEffect(first, effect, observed) === wrong ? wrong : undefined;
};

function outcomes(world: World, effect: Effect, rule: string, how: string, wrong: string | undefined): Pass[] {
  const base = { ...world, seq: world.seq + 1, glance: undefined };
  const { world: after, error } = apply(base, effect);
  const checked = wrong ? violated(after, wrong) : after;
  const says = `${rule}${how}: ${describe(effect)}`;
  const step = stepOf(world);
  const text = error ? `${says} — refused: ${error}` : says;
  const done = error ? refused(checked, effect, error) : remembered(checked, effect);
  const clear = how === '';
  const found: Pass[] = [
    { kind: 'done', rule, step, clear, text, next: done },
    { kind: 'crashBefore', rule, step, clear, text: `${says} — the reconciler dies before it`, next: crashed(base) },
    { kind: 'crashAfter', rule, step, clear, text: `${text} — and the reconciler dies`, next: crashed(checked) },
  ];
  if (world.budget.late > 0 && !error) {
    const budget = { ...world.budget, late: world.budget.late - 1 };
    const paused = { ...crashed(base), late: [...(world.late ?? []), effect], budget };
    found.push({
      kind: 'late',
      rule,
      step,
      clear,
      text: `${says} — is still to come when its sender loses the lease`,
      next: paused,
    });
  }
  return found;
}

/** Remembers what failed. A refused eviction is retried after a while. */
function refused(world: World, effect: Effect, error: string): World {
  if (error === 'refused') return { ...world, memory: { ...world.memory, refused: true } };
  const key = keyOf(effect);
  return key === undefined
    ? world
    : { ...world, memory: { ...world.memory, failed: [...new Set([...(world.memory.failed ?? []), key])] } };
}

const keyOf = (effect: Effect): string | undefined => ('done' in effect ? effect.done : undefined);

export function lateCall(world: World): Step[] {
  const { late = [] } = world;
  return late.map((effect) => {
    const left = late.filter((other) => other !== effect);
    const truth = effect.kind === 'MemberUpdate' ? { ...world.truth, cut: true as const } : world.truth;
    const { world: next, error } = apply({ ...world, truth, late: left.length > 0 ? left : undefined }, effect);
    const text = `the late call of the old holder arrives: ${describe(effect)}`;
    return { text: error ? `${text} — refused: ${error}` : text, next };
  });
}

export const stepOf = (world: World): string => {
  const op = world.record?.doc.op;
  if (!op) return 'no op';
  return 'step' in op ? `${op.kind}.${op.step}` : op.kind;
};

function crashed(world: World): World {
  // The container is restarted in its pod, so the name of the holder stays.
  const [next, self] = fresh(world, 'p');
  return { ...next, memory: { self, done: [] } };
}

function remembered(world: World, effect: Effect): World {
  if (effect.kind === 'DeletePod' && effect.evict && world.memory.refused)
    return { ...world, memory: { ...world.memory, refused: undefined } };
  const key = keyOf(effect);
  return key === undefined ? world : { ...world, memory: { ...world.memory, done: [...world.memory.done, key] } };
}

const schemesIn = (effect: Effect): string =>
  'peerUrls' in effect && effect.peerUrls ? effect.peerUrls.map((url) => url.slice(0, url.indexOf(':'))).join('+') : '';

export function describe(effect: Effect): string {
  switch (effect.kind) {
    case 'WriteRecord': {
      const { op, epoch, phase, seeded, permits, transport } = effect.doc;
      const opText = op
        ? ` op ${op.kind}${'step' in op ? `.${op.step}` : ''}${'ordinal' in op ? ` ${op.ordinal}` : ''},`
        : '';
      const permitText = Object.values(permits).map((p) => `${p.mode}→${p.ordinal}`);
      return `the record is written:${opText} epoch ${epoch}, ${phase}${seeded ? ', seeded' : ''}, permits ${permitText.join(' ') || 'none'}, peers ${transport?.peers}, clients ${transport?.clients}`;
    }
    case 'ScaleTo':
      return `scale to ${effect.replicas}`;
    case 'CreateJob':
      return `create Job ${effect.job.kind}`;
    default: {
      const { kind, ...rest } = effect as Effect & Record<string, unknown>;
      const shown = Object.entries({ ...rest, ...('peerUrls' in rest && { peerUrls: schemesIn(effect) }) });
      return `${kind} ${shown
        .filter(([key]) => key !== 'basedOn')
        .map(([key, value]) => `${key} ${value}`)
        .join(', ')}`;
    }
  }
}
