import type { Candidate, ClusterLine } from '../../src/backup/catalog/candidate.ts';
import { type Decision, decide, type RetentionContext } from '../../src/backup/retention/retention.ts';
import type { RetentionSpec } from '../../src/store/retention-spec.ts';
import type { Event, History, PlainHistory } from './retention.histories.ts';
import { checkRun } from './retention.oracle.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Errors of this machine's clock. */
const clockErrors = [0, 0, 0, -4, 5, -5, 6, -6, 120, -1440, 1440, 3653 * 1440].map((minutes) => minutes * minute);

/** How often each decision occurred, so that a test can check that all do. */
export type Tally = Map<string, number>;

/** Runs a history with retention at the end of every run. Throws on the first broken promise. */
export function live({ beginning, policies, events }: History, tally: Tally): void {
  const world = new World(Date.parse(beginning), policies, tally);
  for (const next of events) world.happen(next);
  world.settle();
}

class World {
  private stored: Candidate[] = [];
  private time: number;
  private clockError = 0;
  private made = 0;
  private ids = 0;
  private cluster: ClusterLine = { id: 'c0', lineage: [] };
  private policy: RetentionSpec | undefined;
  private readonly policies: readonly RetentionSpec[];
  private readonly tally: Tally;

  constructor(time: number, policies: readonly RetentionSpec[], tally: Tally) {
    this.time = time;
    this.policies = policies;
    this.policy = policies[0];
    this.tally = tally;
  }

  happen(event: Event): void {
    this.time += event.after;
    const { kind, dice } = event;
    if (kind === 'backup') this.retain(event, this.take({ verified: event.verified }));
    if (kind === 'prune') this.retain(event);
    if (kind === 'clock') this.clockError = clockErrors[dice % clockErrors.length]!;
    if (kind === 'restore') this.restore(dice);
    if (kind === 'mark') this.change(dice, (old) => (dice % 2 ? { pinned: !old.pinned } : { locked: !old.locked }));
    if (kind === 'verify') this.change(dice, (old) => ({ verified: !old.verified }));
    if (kind === 'strange') {
      this.takeStrange(dice);
      this.retain(event);
    }
    if (kind === 'many') this.takeMany(dice);
    if (kind === 'policy') this.policy = dice % 8 ? this.policies[dice % this.policies.length] : undefined;
  }

  /**
   * Runs retention until nothing is deferred: after the number of runs that the limit requires, everything that no rule
   * keeps is deleted.
   */
  settle(): void {
    const runs = Math.ceil(this.stored.length / 10);
    for (let run = 0; run < runs; run++) this.run(this.context(), false);
    const last = this.run(this.context(), false);
    if (last.some(({ action }) => action !== 'keep')) throw new Error(`not settled after ${runs} runs`);
  }

  private take(differences: Partial<Candidate> = {}, age = 0): Candidate {
    const snapshot: Candidate = {
      // Ids are in no particular order.
      id: `s${(++this.made * 7919) % 10_007}`,
      createdAt: new Date(this.time + this.clockError - age),
      ...blank,
      clusterId: this.cluster.id,
      lineage: this.cluster.lineage,
      verified: true,
      ...differences,
    };
    this.stored.push(snapshot);
    return snapshot;
  }

  private takeStrange(dice: number): void {
    const age = (dice % 50) * 5 * hour;
    const strange: Partial<Candidate>[] = [
      { clusterId: 'unknown', lineage: undefined },
      { clusterName: 'other' },
      { namespace: 'elsewhere' },
      { clusterId: 'f0', lineage: [] },
      { readable: false, createdAt: undefined, clusterName: undefined, clusterId: undefined, verified: false },
      { exactKey: true },
      { createdAt: new Date(this.time + age + minute) },
    ];
    this.take(strange[dice % strange.length], age);
  }

  private takeMany(dice: number): void {
    const apart = [10 * minute, hour, 5 * hour, day][dice % 4]!;
    for (let left = dice % 60; left > 0; left--) this.take({ verified: (dice + left) % 7 !== 0 }, left * apart);
  }

  private restore(dice: number): void {
    const { id, lineage } = this.cluster;
    const recorded = dice % 5 !== 0;
    this.cluster = { id: `c${++this.ids}`, lineage: recorded ? [id, ...lineage] : [] };
  }

  private change(dice: number, how: (old: Candidate) => Partial<Candidate>): void {
    const old = this.stored[dice % (this.stored.length || 1)];
    if (old) this.stored[this.stored.indexOf(old)] = { ...old, ...how(old) };
  }

  private retain(event: Event, own?: Candidate): void {
    const context = this.context(event);
    this.run(own ? { ...context, ownRun: { id: own.id, verified: own.verified } } : context, event.killed);
  }

  private context(event?: Event): RetentionContext {
    const ours = this.time + this.clockError;
    const clocks = { right: this.time, ours, unknown: undefined };
    const storeNow = clocks[event?.storeClock ?? 'ours'];
    return {
      now: new Date(ours),
      storeNow: storeNow === undefined ? undefined : new Date(storeNow),
      clusterName: 'main',
      cluster: event && !event.asksEtcd ? undefined : this.cluster,
      force: event?.force ?? false,
    };
  }

  private run(context: RetentionContext, killed: boolean): Decision[] {
    const { policy, stored } = this;
    const decisions = decide(stored, policy, context);
    checkRun({ stored, policy, context, decisions });
    this.count(decisions);

    const deleted = ids(decisions, 'delete');
    const removed = new Set(killed ? deleted.slice(0, deleted.length / 2) : deleted);
    this.stored = stored.filter(({ id }) => !removed.has(id));

    // Deleting snapshots never makes others deletable, and the order of the list does not matter.
    const again = decide(this.stored.toReversed(), policy, context);
    const waiting = [...deleted, ...ids(decisions, 'defer')].filter((id) => !removed.has(id));
    same([...ids(again, 'delete'), ...ids(again, 'defer')], waiting, 'deleting makes nothing else go');
    same(again, decide(this.stored, policy, context), 'the order of the list does not matter');
    return decisions;
  }

  private count(decisions: readonly Decision[]): void {
    for (const { action, reasons } of decisions) {
      for (const reason of reasons) {
        const what = `${action}: ${reason.replace(/ \d.*| c\d+$/, '')}`;
        this.tally.set(what, (this.tally.get(what) ?? 0) + 1);
      }
    }
  }
}

/**
 * Checks that deleting step by step loses no snapshot that the policy would keep if it were applied once, at the end,
 * to all snapshots ever taken.
 */
export function livePlainly({ beginning, policy, backups }: PlainHistory): void {
  const taken: Candidate[] = [];
  let stored: Candidate[] = [];
  let time = Date.parse(beginning);
  let latest = time;
  const decideAt = (snapshots: readonly Candidate[], now: number) =>
    decide(snapshots, policy, { now: new Date(now), clusterName: 'main', force: true });
  for (const { after, verified } of backups) {
    time += after;
    latest = Math.max(latest, time);
    const snapshot = { ...blank, id: `s${(taken.length * 7919) % 10_007}`, createdAt: new Date(time), verified };
    taken.push(snapshot);
    const gone = ids(decideAt([...stored, snapshot], time), 'delete');
    stored = [...stored, snapshot].filter(({ id }) => !gone.includes(id));
  }
  for (const { id, reasons } of decideAt(taken, latest)) {
    const rules = reasons.filter((reason) => !/^minKeep|^no rule/.test(reason));
    if (rules.length > 0 && !stored.some((snapshot) => snapshot.id === id)) {
      throw new Error(`${id} was deleted on the way, at the end it is kept: ${rules}`);
    }
  }
}

const blank = {
  clusterName: 'main',
  clusterId: 'c0',
  pinned: false,
  locked: false,
  readable: true,
  exactKey: false,
};

function ids(decisions: readonly Decision[], action: Decision['action']): string[] {
  return decisions.filter((decision) => decision.action === action).map(({ id }) => id);
}

function same(actual: unknown, expected: unknown, promise: string): void {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${promise}: ${a} instead of ${b}`);
}
