import type { Candidate } from '../../src/backup/catalog/candidate.ts';
import type { RetentionContext, RetentionDecision } from '../../src/backup/retention/retention.ts';
import type { RetentionSpec } from '../../src/store/retention-spec.ts';
import { periodsOf } from './calendar-buckets.oracle.ts';

/**
 * A second implementation of retention's promises, written from their text: each is a definition over pairs of snapshots,
 * slow and simple, and shares no code with the implementation that it checks.
 */
export interface Run {
  readonly stored: readonly Candidate[];
  readonly policy: RetentionSpec | undefined;
  /** Without what the implementation knows of the etcd. */
  readonly context: Omit<RetentionContext, 'cluster'>;
  readonly decisions: readonly RetentionDecision[];
  /** The etcd that takes the backup. Undefined if it cannot be asked. */
  readonly asked: { readonly id: string; readonly lineage: readonly string[] } | undefined;
  /** What is true of each etcd, whatever is left in the store. */
  readonly known: ReadonlyMap<string, Known>;
}

/** An etcd as it was. */
export interface Known {
  /** The ids that its manifests say it was restored from, newest first. */
  readonly lineage: readonly string[];
  /** Date of the first snapshot that was taken of it. */
  readonly began: Date;
  /** Earliest date of a snapshot of it; a clock may have gone back. */
  readonly earliest: Date;
  /** Whether its manifests say since when it is backed up. */
  readonly isRecorded: boolean;
}

const calendar = ['hourly', 'daily', 'weekly', 'monthly', 'yearly'] as const;
const minute = 60_000;
const units: Record<string, number> = { h: 60 * minute, d: 1440 * minute };

/** Throws on the first broken promise. */
export function checkRun(run: Run): void {
  const gone = run.stored.filter((s) => actionOf(run, s) !== 'keep');
  const deleted = run.stored.filter((s) => actionOf(run, s) === 'delete');
  const ours = run.stored.filter((s) => takesPart(run, s));
  check(run.decisions.length === run.stored.length, 'a decision for each snapshot');
  neverTheNewest(run, ours, gone);
  neverWhenInDoubt(run, gone);
  neverTheUntouchable(run, gone);
  neverBelowTheMinimum(run, ours, gone);
  neverTooManyAtOnce(run, ours, deleted, gone);
  neverWhatTheRulesKeep(run, ours, gone);
  everythingElseGoes(run, ours, gone);
  reasonsAreTrue(run, ours);
}

function neverTheNewest(run: Run, ours: readonly Candidate[], gone: readonly Candidate[]): void {
  const line = lineOf(run);
  for (const s of gone) {
    check(!unproven(run, ours).includes(s.clusterId), 'rule 1: nothing goes in favor of one that nobody read', s);
    check(!isNewest(s, ours, line.slice(0, 1)), 'rule 1: the newest of the current cluster id stays', s);
    check(!isNewest(s, ours, line.slice(1)), 'rule 1: the newest of the cluster id before stays', s);
  }
}

/** The ids that rule 1 protects, of which no snapshot is verified. */
function unproven(run: Run, ours: readonly Candidate[]): readonly (string | undefined)[] {
  const [current, ...past] = lineOf(run);
  const before = past.find((id) => ours.some((s) => s.clusterId === id));
  const ids = current === undefined ? ['unknown'] : [current, before];
  return ids.filter((id) => !ours.some((s) => s.clusterId === id && s.verified));
}

/** Whether the snapshot is the newest, or the newest verified, of the first of these ids that has snapshots. */
function isNewest(s: Candidate, ours: readonly Candidate[], ids: readonly string[]): boolean {
  const verified = ours.filter((other) => other.verified);
  return [ours, ...(s.verified ? [verified] : [])].some((group) => {
    const id = ids.find((wanted) => group.some((other) => other.clusterId === wanted));
    return s.clusterId === id && !group.some((other) => other.clusterId === id && newer(other, s));
  });
}

function neverWhenInDoubt({ context, policy, stored }: Run, gone: readonly Candidate[]): void {
  if (gone.length === 0) return;
  const { now, storeNow, ownRun } = context;
  check(policy, 'no policy: nothing is deleted');
  check(ownRun?.verified !== false, 'rule 2: own run unverified: nothing is deleted');
  check(!ownRun || stored.every((s) => s.id !== ownRun.id || s.verified), 'rule 2: own snapshot unverified');
  if (storeNow) check(Math.abs(+now - +storeNow) <= 5 * minute, 'rule 2: clocks differ: nothing is deleted');
}

function neverTheUntouchable(run: Run, gone: readonly Candidate[]): void {
  for (const s of gone) {
    check(!s.pinned, 'rule 3: pinned', s);
    check(!s.locked, 'rule 3: locked', s);
    check(s.readable && s.createdAt, 'rule 3: unreadable', s);
    check(s.createdAt!.getTime() <= run.context.now.getTime(), 'rule 3: dated in the future', s);
    check(s.clusterName === run.context.clusterName, 'rule 3: foreign name', s);
    check(s.namespace === run.context.namespace, 'rule 3: foreign namespace', s);
    check(s.clusterId === 'unknown' || lineOf(run).includes(s.clusterId!), 'rule 3: foreign cluster id', s);
    for (const { began, isRecorded } of since(run, s) ?? []) {
      check(isRecorded, 'rule 3: its etcd may have run on', s);
      check(s.createdAt!.getTime() <= began.getTime() + 5 * minute, 'rule 3: its etcd ran on', s);
    }
  }
}

function neverBelowTheMinimum({ policy }: Run, ours: readonly Candidate[], gone: readonly Candidate[]): void {
  if (!policy || gone.length === 0) return;
  const minimum = minimumOf(policy);
  const left = ours.filter((s) => !gone.includes(s));
  check(left.length >= Math.min(minimum, ours.length), 'rule 4: minKeep');
  const verifiedBefore = ours.filter((s) => s.verified).length;
  check(left.filter((s) => s.verified).length >= Math.min(minimum, verifiedBefore), 'rule 4: minKeep verified ones');
}

function neverTooManyAtOnce(
  { context }: Run,
  ours: readonly Candidate[],
  deleted: readonly Candidate[],
  gone: readonly Candidate[],
): void {
  const limit = context.force ? gone.length : Math.max(10, Math.floor(ours.length * 0.25));
  check(deleted.length === Math.min(limit, gone.length), 'rule 5: as many as allowed, and no more');
  for (const s of gone) {
    if (deleted.includes(s)) continue;
    check(!deleted.some((other) => newer(other, s)), 'rule 5: the oldest go first', s);
  }
}

function neverWhatTheRulesKeep(run: Run, ours: readonly Candidate[], gone: readonly Candidate[]): void {
  for (const s of gone) check(!keptByRule(run, s, ours), 'what a rule keeps stays', s);
}

function everythingElseGoes(run: Run, ours: readonly Candidate[], gone: readonly Candidate[]): void {
  const { policy, context } = run;
  const own = run.stored.find((s) => s.id === context.ownRun?.id);
  const clocksDiffer = context.storeNow && Math.abs(+context.now - +context.storeNow) > 5 * minute;
  if (!policy || context.ownRun?.verified === false || (own && !own.verified) || clocksDiffer) return;
  const line = lineOf(run);
  const left = ours.filter((s) => !gone.includes(s));
  const waiting = unproven(run, ours);
  const spare = left.filter(
    (s) =>
      !waiting.includes(s.clusterId) &&
      !s.pinned &&
      !s.locked &&
      !keptByRule(run, s, ours) &&
      !isNewest(s, ours, line.slice(0, 1)) &&
      !isNewest(s, ours, line.slice(1)),
  );
  for (const s of spare) {
    const group = (set: readonly Candidate[]) => (s.verified ? set.filter((other) => other.verified) : set);
    check(group(left).length <= minimumOf(policy), 'what nothing keeps goes', s);
    check(!group(gone).some((other) => newer(other, s)), 'minKeep keeps the newest', s);
  }
}

/** If a reason names a bucket, the snapshot lies in that bucket and is its newest. */
function reasonsAreTrue({ decisions, policy, stored }: Run, ours: readonly Candidate[]): void {
  const byId = new Map(stored.map((s) => [s.id, s]));
  for (const { id, reasons } of decisions) {
    check(reasons.length > 0, 'a reason for each');
    const s = byId.get(id)!;
    for (const reason of reasons) {
      const rule = calendar.find((name) => reason.startsWith(`${name} `));
      if (!rule || !policy) continue;
      const own = bucket(rule, s, policy);
      check(reason === `${rule} ${own}`, `its own bucket, not ${reason}`, s);
      const rivals = peers(s, ours).filter((other) => newer(other, s));
      check(!rivals.some((other) => bucket(rule, other, policy) === own), `the newest of ${reason}`, s);
    }
  }
}

function keptByRule({ policy }: Run, s: Candidate, ours: readonly Candidate[]): boolean {
  if (!policy) return false;
  const group = peers(s, ours);
  const newerOnes = group.filter((other) => newer(other, s));
  if (newerOnes.length < (policy.last ?? 0)) return true;
  if (policy.within) {
    const span = Number.parseInt(policy.within, 10) * units[policy.within.slice(-1)]!;
    if (newerOnes.every((other) => +other.createdAt! - +s.createdAt! <= span)) return true;
  }
  const isOldest = newerOnes.length === group.length - 1;
  return calendar.some((rule) => {
    const count = policy[rule] ?? 0;
    const newerBuckets = new Set(newerOnes.map((other) => bucket(rule, other, policy)));
    const isFirst = !newerBuckets.has(bucket(rule, s, policy));
    return newerBuckets.size < count && (isFirst || isOldest);
  });
}

/** Verified snapshots are counted only among themselves, and so are those of them whose etcd is known. */
function peers(s: Candidate, ours: readonly Candidate[]): readonly Candidate[] {
  if (!s.verified) return ours;
  return ours.filter((other) => other.verified && (s.clusterId === 'unknown' || other.clusterId !== 'unknown'));
}

function takesPart(run: Run, s: Candidate): boolean {
  const { now, clusterName, namespace } = run.context;
  if (!s.readable || !s.createdAt || s.createdAt.getTime() > now.getTime()) return false;
  if (s.clusterName !== clusterName || s.namespace !== namespace) return false;
  if (s.clusterId === 'unknown') return true;
  const restored = since(run, s);
  if (!restored) return false;
  // Whether a snapshot from between these two dates counts is not promised.
  if (restored.some(({ began, isRecorded }) => !isRecorded || +s.createdAt! > +began + 5 * minute)) return false;
  if (restored.every(({ earliest }) => +s.createdAt! <= +earliest + 5 * minute)) return true;
  return !run.decisions.some(({ id, reasons }) => id === s.id && reasons[0]!.startsWith('foreign cluster id'));
}

/** Whether it is promised of each snapshot that it counts, or that it does not, whatever is deleted meanwhile. */
export const isPromised = (run: Run): boolean =>
  run.stored.every((s) =>
    (since(run, s) ?? []).every(
      ({ began, earliest }) => +s.createdAt! <= +earliest + 5 * minute || +s.createdAt! > +began + 5 * minute,
    ),
  );

/** The etcds of the line that were restored after that of the snapshot. Undefined if it is not in the line. */
function since(run: Run, { clusterId }: Candidate): readonly Known[] | undefined {
  const line = lineOf(run);
  const at = line.indexOf(clusterId!);
  return at < 0 ? undefined : line.slice(0, at).flatMap((id) => run.known.get(id) ?? []);
}

/** The current cluster id, then those it was restored from. */
function lineOf({ stored, context, asked, known }: Run): readonly string[] {
  if (asked) return [asked.id, ...asked.lineage];
  let newest: Candidate | undefined;
  for (const s of stored) {
    if (!s.readable || !s.createdAt || s.createdAt > context.now || s.clusterId === 'unknown') continue;
    if (s.clusterName !== context.clusterName || s.namespace !== context.namespace) continue;
    if (!newest || newer(s, newest)) newest = s;
  }
  return newest ? [newest.clusterId!, ...known.get(newest.clusterId!)!.lineage] : [];
}

function minimumOf(policy: RetentionSpec): number {
  if (policy.minKeep !== undefined) return policy.minKeep;
  const onlyLast = policy.last && !policy.within && calendar.every((rule) => !policy[rule]);
  return onlyLast && policy.last! < 3 ? policy.last! : 3;
}

function newer(a: Candidate, b: Candidate): boolean {
  const difference = a.createdAt!.getTime() - b.createdAt!.getTime();
  return difference === 0 ? a.id > b.id : difference > 0;
}

function actionOf({ decisions }: Run, { id }: Candidate): RetentionDecision['action'] {
  return decisions.find((decision) => decision.id === id)!.action;
}

function bucket(rule: (typeof calendar)[number], { createdAt }: Candidate, { timeZone }: RetentionSpec): string {
  return periodsOf(createdAt!, timeZone)[rule];
}

function check(truth: unknown, promise: string, snapshot?: Candidate): asserts truth {
  if (!truth) throw new Error(snapshot ? `${promise}: ${JSON.stringify(snapshot)}` : promise);
}
