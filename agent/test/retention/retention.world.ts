import { type Candidate, toCandidate } from '../../src/backup/catalog/candidate.ts';
import { type Entry, newestFirst, stateOf } from '../../src/backup/catalog/catalog.ts';
import { familyOf } from '../../src/backup/catalog/identity/family.ts';
import { clusterLine, lineOf } from '../../src/backup/catalog/identity/lineage.ts';
import type { Brief } from '../../src/backup/catalog/manifest.ts';
import { decide, type RetentionContext, type RetentionDecision } from '../../src/backup/retention/retention.ts';
import type { RetentionSpec } from '../../src/store/retention-spec.ts';
import { manifestOf } from '../support/manifest-of.ts';
import type { Event, History, PlainHistory } from './retention.histories.ts';
import { checkRun, isPromised, type Known } from './retention.oracle.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Errors of this machine's clock. */
const clockErrors = [0, 0, 0, -4, 5, -5, 6, -6, 120, -1440, 1440, 3653 * 1440].map((minutes) => minutes * minute);

/** How often each decision occurred, so that a test can check that all do. */
export type Tally = Map<string, number>;

/** Runs a history with retention at the end of every run. Throws on the first broken promise. */
export function live({ beginning, policies, events, upgrade }: History, tally: Tally): void {
  const world = new World(Date.parse(beginning), policies, tally);
  for (const [at, next] of events.entries()) world.happen(next, at < upgrade);
  world.settle();
}

/** A snapshot as the store holds it. */
interface Stored {
  readonly entry: Entry;
  readonly locked?: boolean;
}

/** An etcd that is backed up. */
interface Etcd {
  readonly id: string;
  readonly lineage: readonly string[];
}

/** What is not as usual about a snapshot. */
interface Taken {
  readonly etcd?: Etcd;
  /** Milliseconds. */
  readonly age?: number;
  readonly verified?: boolean;
  readonly createdAt?: Date;
  readonly clusterId?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly isReadable?: boolean;
}

const blank = manifestOf(Buffer.alloc(64));
const proof = { level: 'read', at: blank.createdAt } as const;

const verifiedAnew = ({ entry: { manifest, ...entry }, ...old }: Stored): Stored => ({
  ...old,
  entry: { ...entry, ...(manifest && { manifest: { ...manifest, verified: manifest.verified ? undefined : proof } }) },
});

const candidateOf = ({ entry, ...more }: Stored): Candidate => ({ ...toCandidate(entry), ...more });

class World {
  private stored: Stored[] = [];
  private time: number;
  private clockError = 0;
  /** Whether the agent is of a release that records no family. */
  private isEarlier = false;
  private made = 0;
  private ids = 0;
  private cluster: Etcd = { id: 'c0', lineage: [] };
  /** Those that were restored, and keep running. */
  private beside: Etcd[] = [];
  /** What nobody but this world remembers of each etcd. */
  private readonly known = new Map<string, Known>();
  private policy: RetentionSpec | undefined;
  private readonly policies: readonly RetentionSpec[];
  private readonly tally: Tally;

  constructor(time: number, policies: readonly RetentionSpec[], tally: Tally) {
    this.time = time;
    this.policies = policies;
    this.policy = policies[0];
    this.tally = tally;
  }

  happen(event: Event, isEarlier: boolean): void {
    this.isEarlier = isEarlier;
    this.time += event.after;
    const { kind, dice } = event;
    if (kind === 'backup') {
      const etcd = this.running(dice);
      this.retain(event, etcd, this.take({ etcd, verified: event.verified }));
    }
    if (kind === 'prune') this.retain(event, this.running(dice));
    if (kind === 'clock') this.clockError = clockErrors[dice % clockErrors.length]!;
    if (kind === 'restore') this.restore(dice);
    if (kind === 'mark') {
      if (dice % 2) this.change(dice, (old) => ({ ...old, entry: { ...old.entry, pinned: !old.entry.pinned } }));
      else this.change(dice, (old) => ({ ...old, locked: !old.locked }));
    }
    if (kind === 'verify') this.change(dice, verifiedAnew);
    if (kind === 'strange') {
      this.takeStrange(dice);
      this.retain(event, this.cluster);
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
    const run = () => this.run(this.cluster, this.context(), false);
    for (let done = 0; done < runs; done++) run();
    if (run().some(({ action }) => action !== 'keep')) throw new Error(`not settled after ${runs} runs`);
  }

  private running(dice: number): Etcd {
    return [this.cluster, ...this.beside][dice % (1 + this.beside.length)]!;
  }

  private take({ etcd = this.cluster, age = 0, verified = true, ...strange }: Taken = {}): Stored {
    // Ids are in no particular order.
    const id = `s${(++this.made * 7919) % 10_007}`;
    const { createdAt = new Date(this.time + this.clockError - age), clusterId = etcd.id } = strange;
    const { name = 'main', namespace, isReadable = true } = strange;
    const lineage = clusterId === etcd.id ? etcd.lineage : [];
    const family = this.familyAt(clusterId, lineage, createdAt);
    const manifest: Brief = {
      ...blank,
      ...{ id, createdAt: createdAt.toISOString(), verified: verified ? proof : undefined },
      cluster: { name, namespace, lineage: [...lineage], family },
      source: { clusterId },
    };
    const known = isReadable ? { manifest } : {};
    const entry = { id, manifestKey: '', pinned: false, restoredAs: [], objects: [], ...known, state: stateOf(known) };
    const one = { entry };
    this.stored.push(one);
    if (isReadable) this.remember(clusterId, createdAt, lineage);
    return one;
  }

  /** An agent of an earlier release records nothing. */
  private familyAt(clusterId: string, lineage: readonly string[], at: Date): ReturnType<typeof familyOf> | undefined {
    if (this.isEarlier) return undefined;
    const entries = this.stored.map(({ entry }) => entry);
    return familyOf(entries, { clusterId, lineage, at }, true);
  }

  private entries(stored = this.stored): Entry[] {
    return stored.map(({ entry }) => entry).sort(newestFirst);
  }

  private remember(id: string, createdAt: Date, lineage: readonly string[]): void {
    const { began = createdAt, earliest = createdAt, isRecorded = !this.isEarlier } = this.known.get(id) ?? {};
    this.known.set(id, { began, earliest: createdAt < earliest ? createdAt : earliest, isRecorded, lineage });
  }

  private takeStrange(dice: number): void {
    const age = (dice % 50) * 5 * hour;
    const strange: Taken[] = [
      { clusterId: 'unknown' },
      { name: 'other' },
      { namespace: 'elsewhere' },
      { clusterId: 'f0' },
      { isReadable: false },
      { createdAt: new Date(this.time + age + minute) },
    ];
    this.take({ ...strange[dice % strange.length], age });
  }

  private takeMany(dice: number): void {
    const apart = [10 * minute, hour, 5 * hour, day][dice % 4]!;
    for (let left = dice % 60; left > 0; left--) this.take({ verified: (dice + left) % 7 !== 0, age: left * apart });
  }

  private restore(dice: number): void {
    const { id, lineage } = this.cluster;
    const isRecorded = dice % 5 !== 0;
    if (dice % 3 === 0) this.beside.push(this.cluster);
    this.cluster = { id: `c${++this.ids}`, lineage: isRecorded ? [id, ...lineage] : [] };
  }

  private change(dice: number, how: (old: Stored) => Stored): void {
    const old = this.stored[dice % (this.stored.length || 1)];
    if (old) this.stored[this.stored.indexOf(old)] = how(old);
  }

  private retain(event: Event, etcd: Etcd, own?: Stored): void {
    const context = this.context(event);
    const ownRun = own && { ownRun: { id: own.entry.id, verified: own.entry.manifest?.verified !== undefined } };
    this.run(event.asksEtcd ? etcd : undefined, { ...context, ...ownRun }, event.killed);
  }

  private context(event?: Event): Omit<RetentionContext, 'cluster'> {
    const ours = this.time + this.clockError;
    const clocks = { right: this.time, ours, unknown: undefined };
    const storeNow = clocks[event?.storeClock ?? 'ours'];
    return {
      now: new Date(ours),
      storeNow: storeNow === undefined ? undefined : new Date(storeNow),
      clusterName: 'main',
      force: event?.force ?? false,
    };
  }

  /** What the commands find out from what is still there. `asked`: the etcd that they can ask. */
  private decided(asked: Etcd | undefined, context: Omit<RetentionContext, 'cluster'>, stored = this.stored) {
    const entries = this.entries(stored);
    const cluster = asked ? clusterLine(entries, asked.id, asked.lineage) : lineOf(entries, context);
    return decide(stored.map(candidateOf), this.policy, { ...context, ...(cluster && { cluster }) });
  }

  private run(
    asked: Etcd | undefined,
    context: Omit<RetentionContext, 'cluster'>,
    killed: boolean,
  ): readonly RetentionDecision[] {
    const { policy, stored, known } = this;
    const decisions = this.decided(asked, context);
    const run = { stored: stored.map(candidateOf), policy, context, decisions, asked, known };
    checkRun(run);
    this.count(decisions);

    const deleted = ids(decisions, 'delete');
    const removed = new Set(killed ? deleted.slice(0, deleted.length / 2) : deleted);
    this.stored = stored.filter(({ entry }) => !removed.has(entry.id));

    // Deleting snapshots never makes others deletable, and the order of the list does not matter.
    const again = this.decided(asked, context, this.stored.toReversed());
    const waiting = [...deleted, ...ids(decisions, 'defer')].filter((id) => !removed.has(id));
    if (isPromised(run))
      same([...ids(again, 'delete'), ...ids(again, 'defer')], waiting, 'deleting makes nothing else go');
    same(again, this.decided(asked, context), 'the order of the list does not matter');
    return decisions;
  }

  private count(decisions: readonly RetentionDecision[]): void {
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
  const cluster = { id: 'c0', lineage: [] };
  let time = Date.parse(beginning);
  let latest = time;
  const decideAt = (snapshots: readonly Candidate[], now: number) =>
    decide(snapshots, policy, { now: new Date(now), clusterName: 'main', cluster, force: true });
  for (const { after, verified } of backups) {
    time += after;
    latest = Math.max(latest, time);
    const snapshot = { ...plain, id: `s${(taken.length * 7919) % 10_007}`, createdAt: new Date(time), verified };
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

const plain = {
  clusterName: 'main',
  clusterId: 'c0',
  pinned: false,
  locked: false,
  readable: true,
};

function ids(decisions: readonly RetentionDecision[], action: RetentionDecision['action']): string[] {
  return decisions.filter((decision) => decision.action === action).map(({ id }) => id);
}

function same(actual: unknown, expected: unknown, promise: string): void {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${promise}: ${a} instead of ${b}`);
}
