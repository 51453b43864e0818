import type { ApiClient } from '../../kube/api-client.ts';
import { isStatus } from '../../kube/api-error.ts';
import type { EventOf } from '../../kube/events.ts';
import { messageOf } from '../../lib/errors.ts';
import { withoutUndefined } from '../../lib/without-undefined.ts';
import type { ClusterStatus } from '../../protocol/cluster-status.ts';
import { hinders } from '../../protocol/condition.ts';
import { outcomeConditions } from '../../protocol/outcome-conditions.ts';
import { reasons } from '../../protocol/reasons.ts';
import type { RecordDoc, RestoreOp, RestoreStep } from '../../protocol/record.ts';
import { isOfEtcdRestore, isOrigin } from '../../protocol/restore-id.ts';
import { alreadyRestored, entryOf, isOpOf, refusalIn } from '../../protocol/restore-refusal.ts';
import { isHidden, isStuck } from '../jobs/pod-state.ts';
import type { Why } from '../objects/backup-object.ts';
import { type EtcdRestoreObject, restoreOf } from '../objects/restore-object.ts';
import type { JobKind, RestoreRequest } from '../port/observed.ts';
import type { ClusterContext } from './cluster-context.ts';
import type { JobState, ServedSnapshot } from './kubernetes-jobs.ts';

type Phase = 'Pending' | 'Verifying' | 'BackingUp' | 'Fencing' | 'Draining' | 'Restoring' | 'Regrowing';

/** Phase for each step. `report` keeps the last phase until the outcome is written. */
const phases: Readonly<Record<RestoreStep, Phase | undefined>> = {
  verify: 'Verifying',
  backup: 'BackingUp',
  salvage: 'BackingUp',
  safety: 'BackingUp',
  fence: 'Fencing',
  drain: 'Draining',
  seed: 'Restoring',
  restore: 'Restoring',
  report: undefined,
};

/** Messages by phase. `waits` must also be true while nothing happens; `runs` is used while the pod of the Job runs. */
const messages: Readonly<Record<Phase, { readonly waits: string; readonly runs?: string }>> = {
  Pending: { waits: 'waiting until the cluster has formed and has finished its current operation' },
  Verifying: { waits: 'waiting to fetch and verify the snapshot', runs: 'fetching and verifying the snapshot' },
  BackingUp: {
    waits: 'waiting to back up the data that will be replaced',
    runs: 'backing up the data that will be replaced',
  },
  Fencing: { waits: 'about to fence off the old data; after that the restore cannot be undone' },
  Draining: { waits: 'waiting for the old pods to stop' },
  Restoring: { waits: 'waiting for the first member to restore the snapshot' },
  Regrowing: {
    waits: 'the first member has restored the snapshot; waiting until every member has joined and its pod is ready',
  },
};

const jobOf: Readonly<Partial<Record<RestoreStep, JobKind>>> = {
  verify: 'restore',
  safety: 'safety',
  fence: 'restore',
  drain: 'restore',
  seed: 'restore',
  restore: 'restore',
};

const beforeFence: readonly Phase[] = ['Verifying', 'BackingUp'];
/** Phases that wait for the cluster, so that its problems are added to the message. */
const blockedByCluster: readonly Phase[] = ['Pending', 'Fencing', 'Draining', 'Restoring', 'Regrowing'];

/** Returns the phase of a restore, or undefined if the restore has ended or is about to end. */
function phaseOf(status: Status, asked: RestoreRequest, doc: RecordDoc | undefined): Phase | undefined {
  if (status?.phase === 'Completed' || status?.phase === 'Failed') return undefined;
  // A deletion suspends a restore past its fence.
  const ops = [doc?.op, doc?.op && 'suspended' in doc.op ? doc.op.suspended : undefined];
  const op = ops.find((each) => isOpOf(each, asked));
  if (op?.kind === 'Restore') return phases[op.step];
  // An EtcdRestore that was created again under the same name restores nothing. It is reported once the cluster is complete.
  const own = doc && entryOf(doc, asked.name);
  // Created again while it was being restored, with the same spec: it was shown as its own.
  const isShown = own?.specHash === asked.specHash && status?.startTime !== undefined;
  return own && (!own.uid || own.uid === asked.uid || isShown) ? 'Regrowing' : 'Pending';
}

export interface ObservedRestore {
  readonly doc: RecordDoc | undefined;
  /** The snapshot that the Job serves, and its operation. */
  readonly served: ServedSnapshot | undefined;
  /** Undefined until the Jobs have been listed. */
  readonly jobs: ReadonlyMap<JobKind, JobState> | undefined;
  /** Problem that keeps the cluster from continuing. */
  readonly trouble?: string | undefined;
  /** What the cluster lacks to be ready. */
  readonly lacks?: string | undefined;
}

export interface RestoreUpdate {
  /** Fields to merge into the status. */
  readonly status: object;
  readonly event?: EventOf;
}

/** Returns the change of status and the Event to report, or undefined if the status is up to date. */
export function progressOf(
  restore: EtcdRestoreObject,
  observed: ObservedRestore,
  now: string,
): RestoreUpdate | undefined {
  const { doc, served, jobs } = observed;
  const asked = restoreOf(restore);
  const phase = phaseOf(restore.status, asked, doc);
  if (phase === undefined) return undefined;
  // The restore has begun, but the record has not been read yet or cannot be read.
  if (!doc && restore.status?.startTime !== undefined) return undefined;
  const op = doc?.op?.kind === 'Restore' && isOpOf(doc.op, asked) ? doc.op : undefined;
  const past = pastOf(restore.status, phase, op);
  const status: Status = restore.status && { ...restore.status, ...past };
  // A reconciler that has just started does not know the Jobs yet, so it keeps the last status.
  if (op && !jobs && status?.phase === phase) return undefined;
  const found = op && served?.op === op.id ? served : undefined;
  // One that is not known is not taken away.
  const facts = withoutUndefined({
    snapshotId: found?.id,
    passedOver: found?.passedOver || undefined,
    safetyBackupId: op?.args.safetyBackupId,
  });
  const { reason, message } = refusalOf(asked, doc, phase) ?? whyOf(asked, phase, op, observed, status);
  const why = { reason, message: withNotes(message, found ?? status) };
  const all = { phase, ...why, ...facts };
  const isReported = Object.entries(all).every(([name, value]) => status?.[name] === value);
  if (isReported && Object.keys(past).length === 0) return undefined;
  const timeOf = `${phase[0]!.toLowerCase()}${phase.slice(1)}Time`;
  const event = eventOf(phase, why, status);
  const observedGeneration = restore.metadata.generation;
  return {
    status: {
      ...nulls(past),
      ...all,
      observedGeneration,
      conditions: outcomeConditions({ phase, ...why, observedGeneration }, restore.status?.conditions, now),
      ...(phase !== 'Pending' && !status?.startTime && { startTime: op?.startedAt ?? now }),
      ...(phase !== 'Pending' && !status?.[timeOf] && { [timeOf]: now }),
    },
    event,
  };
}

type Status = EtcdRestoreObject['status'];

const ofAttempt = /(Time|Id)$|^passedOver$/;

/** Fields of a previous attempt that was abandoned before its fence. They no longer apply. */
function pastOf(status: Status, phase: Phase, op: RestoreOp | undefined): Record<string, undefined> {
  const isPast = op ? status?.startTime !== op.startedAt : phase === 'Pending';
  if (!isPast || status?.startTime === undefined) return {};
  return Object.fromEntries(
    Object.keys(status)
      .filter((name) => ofAttempt.test(name))
      .map((name) => [name, undefined]),
  );
}

const nulls = (fields: object): object => Object.fromEntries(Object.keys(fields).map((name) => [name, null]));

/** What will be said of it as soon as the reconciler gets to it: at the latest when the cluster has grown again. */
function refusalOf(asked: RestoreRequest, doc: RecordDoc | undefined, phase: Phase): Why | undefined {
  if (!doc) return undefined;
  const isBeforeFence = phase === 'Pending' || (doc.phase === 'Restoring' && !entryOf(doc, asked.name));
  if (isBeforeFence && asked.deleting)
    return { reason: 'Waiting', message: 'it is being deleted, so it was taken back; nothing was restored' };
  const why = refusalIn(doc, asked) ?? (phase === 'Pending' ? alreadyRestored(doc, asked) : undefined);
  if (why) return { reason: 'Waiting', message: why.message };
  const isBeforeBirth = doc.op?.kind === 'Restore' && isOrigin(doc.op.args.id) && doc.phase !== 'Restoring';
  const message = 'older than the data that the cluster is created with, so it will be refused';
  return isBeforeBirth ? { reason: 'Waiting', message } : undefined;
}

function whyOf(
  { name }: RestoreRequest,
  phase: Phase,
  op: RestoreOp | undefined,
  { doc, jobs, ...observed }: ObservedRestore,
  before: Status,
): Why {
  const { waits, runs = waits } = messages[phase];
  const trouble = observed.trouble ?? (phase === 'Regrowing' ? observed.lacks : undefined);
  const kind = op && jobOf[op.step];
  const job = kind && jobs?.get(kind);
  const own = job?.op === op?.id ? job : undefined;
  const isUntouched = beforeFence.includes(phase) && doc?.phase !== 'Restoring';
  const nothing = isUntouched ? '; nothing has been changed yet' : '';
  if (!own || own.reason === 'Running') {
    const also = blockedByCluster.includes(phase) && trouble !== undefined ? `; ${trouble}` : '';
    // The cluster may have formed and be idle: then only its problem is in the way.
    if (phase === 'Pending')
      return {
        reason: 'Waiting',
        message: `${waitingFor(doc, name) ?? (also ? 'waiting until the cluster can start the restore' : waits)}${also}`,
      };
    return { reason: phase, message: `${own ? runs : waits}${nothing}${skippedBackup(op, before)}${also}` };
  }
  const { reason, message } = own;
  if (before?.phase === phase && isHidden(before, own)) return { reason: before.reason!, message: before.message! };
  return { reason, message: `${message}${nothing}` };
}

/** Names the operation that the restore waits for. */
function waitingFor(doc: RecordDoc | undefined, name: string): string | undefined {
  const op = doc?.op;
  if (!op) return undefined;
  if (op.kind !== 'Restore') return `waiting for the current operation of the cluster: ${op.kind}`;
  const { id } = op.args;
  const what = isOrigin(id) ? 'the creation of the cluster from a backup' : 'a restart of the only member';
  if (id === name) return 'waiting for the end of the EtcdRestore that had its name before';
  return isOfEtcdRestore(id)
    ? `waiting for EtcdRestore ${id}; its status says what it is waiting for`
    : `waiting for ${what}`;
}

/** Mentions a requested safety backup that was skipped. A record of an older release does not name the one that was taken. */
const skippedBackup = (op: RestoreOp | undefined, before: Status): string =>
  op?.args.safetyBackup &&
  ['fence', 'drain', 'seed', 'restore'].includes(op.step) &&
  (op.args.safetyBackupId ?? before?.safetyBackupId) === undefined
    ? '; no safety backup was taken: no quorum answered'
    : '';

/** Returns the Event for a change. A Job that has not started yet is not worth one. */
function eventOf(phase: Phase, { reason, message }: Why, before: Status): EventOf | undefined {
  if (isStuck(reason) || reason === 'Retrying' || reason === 'JobFailed') {
    const isReported = before?.phase === phase && before.reason === reason;
    const isSame = reason !== 'Retrying' || before?.message === message;
    return isReported && isSame ? undefined : { type: 'Warning', reason, message };
  }
  return phase === 'Pending' || before?.phase === phase ? undefined : { type: 'Normal', reason: phase, message };
}

interface Notes {
  readonly passedOver?: string;
}

/** Adds the newer snapshots that were passed over, because their data will be lost. */
export const withNotes = (message: string, { passedOver }: Notes = {}): string =>
  passedOver && !message.includes(passedOver) ? `${message}; ${passedOver}` : message;

const find = (status: Partial<ClusterStatus> | undefined, type: string, is: string) =>
  status?.conditions?.find((each) => each.type === type && each.status === is);

/** Summarizes the problems in the status of a cluster. */
export function troubleOf(status: Partial<ClusterStatus> | undefined): string | undefined {
  const [template, idle] = [find(status, 'Accepted', 'False'), find(status, 'Progressing', 'False')];
  const trouble = find(status, 'Stalled', 'True') ?? status?.conditions?.find(hinders);
  const all = [
    template?.reason === 'TemplateMismatch' ? template.message : undefined,
    idle?.reason === 'Paused' ? idle.message : undefined,
    trouble?.message,
  ];
  return all.filter(Boolean).join('; ') || undefined;
}

/** Returns what the status of a cluster names as missing until it is ready. */
export const lackOf = (status: Partial<ClusterStatus> | undefined): string | undefined =>
  find(status, 'Ready', 'False')?.message?.replace(`${reasons.NotUpToDate}: `, '');

/** Writes the progress of EtcdRestores to their status. Nothing depends on these writes: the record alone decides. */
export class RestoreProgress {
  readonly #client: ApiClient;
  readonly #context: ClusterContext;
  readonly #observe: () => ObservedRestore;

  constructor(context: ClusterContext, observe: () => ObservedRestore) {
    this.#client = context.client;
    this.#context = context;
    this.#observe = observe;
  }

  report(restores: readonly EtcdRestoreObject[]): void {
    for (const restore of restores) void this.#report(restore);
  }

  async #report(restore: EtcdRestoreObject): Promise<void> {
    const { paths, log } = this.#context;
    const { name, uid, resourceVersion } = restore.metadata;
    const progress = progressOf(restore, this.#observe(), `${new Date().toISOString().slice(0, 19)}Z`);
    if (!progress) return;
    const { status, event } = progress;
    try {
      // The resourceVersion prevents overwriting a newer status.
      await this.#client.merge(paths.of('etcdrestores', name, 'status'), {
        metadata: { uid, resourceVersion },
        status,
      });
      if (event) this.#context.emitEvent(event.type, event.reason, event.message, { kind: 'EtcdRestore', name, uid });
    } catch (error) {
      if (!isStatus(error, 409) && !isStatus(error, 404)) {
        log.warn(`cannot write the progress of EtcdRestore ${name}: ${messageOf(error)}`);
      }
    }
  }
}
