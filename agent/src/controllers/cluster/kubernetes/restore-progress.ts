import type { ApiClient } from '../../../kube/api-client.ts';
import { isStatus } from '../../../kube/api-error.ts';
import type { EventOf } from '../../../kube/events.ts';
import { messageOf } from '../../../lib/errors.ts';
import type { ClusterStatus } from '../../../protocol/cluster-status.ts';
import type { RecordDoc, RestoreOp, RestoreStep } from '../../../protocol/record.ts';
import { isHidden, isStuck } from '../../backup/backup-pod-state.ts';
import type { Why } from '../../backup/backup-status.ts';
import type { JobState, ServedSnapshot } from '../jobs/kubernetes-jobs.ts';
import type { JobKind } from '../observed.ts';
import type { ClusterContext } from './cluster-context.ts';
import type { EtcdRestoreObject } from './restore-object.ts';

type Phase = 'Pending' | 'Verifying' | 'BackingUp' | 'Fencing' | 'Draining' | 'Restoring' | 'Regrowing';

/** While it is being failed, nothing more is said than that. */
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

/** True also while nothing moves; `runs`: while the pod of its Job runs. */
const messages: Readonly<Record<Phase, { readonly waits: string; readonly runs?: string }>> = {
  Pending: { waits: 'waits until the cluster has formed, and has finished its present operation' },
  Verifying: { waits: 'the snapshot is to be fetched and checked', runs: 'the snapshot is being fetched and checked' },
  BackingUp: {
    waits: 'the data that will be replaced is to be backed up first',
    runs: 'the data that will be replaced is being backed up first',
  },
  Fencing: { waits: 'the old data is about to be shut out: from then on there is no way back' },
  Draining: { waits: 'the old pods are to stop' },
  Restoring: { waits: 'the first member is to restore the snapshot' },
  Regrowing: { waits: 'the first member restored the snapshot; the others are to join' },
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
/** What keeps the cluster keeps these too. */
const kept: readonly Phase[] = ['Pending', 'Fencing', 'Draining', 'Restoring', 'Regrowing'];

/** undefined where nothing is to be said: it is over, or is about to be. */
export function phaseOf({ metadata, status }: EtcdRestoreObject, doc: RecordDoc | undefined): Phase | undefined {
  if (status?.phase === 'Completed' || status?.phase === 'Failed') return undefined;
  const { name, uid } = metadata;
  const op = doc?.op;
  if (op?.kind === 'Restore' && op.args.id === name) return phases[op.step];
  // One that was made again under the name restores nothing: that is said once the cluster is whole.
  return doc?.restores.some((fenced) => fenced.id === name && (!fenced.uid || fenced.uid === uid))
    ? 'Regrowing'
    : 'Pending';
}

export interface Seen {
  readonly doc: RecordDoc | undefined;
  /** The snapshot that the Job serves, and for which operation. */
  readonly served: ServedSnapshot | undefined;
  /** undefined: not known yet. */
  readonly jobs: ReadonlyMap<JobKind, JobState> | undefined;
  /** What keeps the cluster from going on. */
  readonly trouble?: string | undefined;
}

export interface Progress {
  /** To merge. */
  readonly status: object;
  readonly event?: EventOf;
}

/** undefined when its status says all that already. */
export function progressOf(restore: EtcdRestoreObject, seen: Seen, now: string): Progress | undefined {
  const { doc, served, jobs } = seen;
  const phase = phaseOf(restore, doc);
  if (phase === undefined) return undefined;
  // It was begun: the record is not read yet, or cannot be.
  if (!doc && restore.status?.startTime !== undefined) return undefined;
  const op = doc?.op?.kind === 'Restore' && doc.op.args.id === restore.metadata.name ? doc.op : undefined;
  const past = pastOf(restore.status, phase, op);
  const status: Status = restore.status && { ...restore.status, ...past };
  // A reconciler that has just begun does not know yet what it said before.
  if (op && !jobs && status?.phase === phase) return undefined;
  const found = op && served?.op === op.id ? served : undefined;
  const facts = {
    ...(found && { snapshotId: found.id }),
    ...(found?.passedOver && { passedOver: found.passedOver }),
    ...(op?.args.safetyBackupId && { safetyBackupId: op.args.safetyBackupId }),
  };
  const { reason, message } = whyOf(phase, op, seen, status);
  const why = { reason, message: withPassedOver(message, found ?? status) };
  const all = { phase, ...why, ...facts };
  const isSaid = Object.entries(all).every(([name, value]) => status?.[name] === value);
  if (isSaid && Object.keys(past).length === 0) return undefined;
  const timeOf = `${phase[0]!.toLowerCase()}${phase.slice(1)}Time`;
  const event = eventOf(phase, why, status);
  return {
    status: {
      ...nulls(past),
      ...all,
      observedGeneration: restore.metadata.generation,
      ...(phase !== 'Pending' && !status?.startTime && { startTime: op?.startedAt ?? now }),
      ...(phase !== 'Pending' && !status?.[timeOf] && { [timeOf]: now }),
    },
    ...(event && { event }),
  };
}

type Status = EtcdRestoreObject['status'];

const ofAttempt = /(Time|Id)$|^passedOver$/;

/** What an attempt before this one left, which gave way before its fence: none of it is true any more. */
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

function whyOf(phase: Phase, op: RestoreOp | undefined, { doc, jobs, trouble }: Seen, before: Status): Why {
  const { waits, runs = waits } = messages[phase];
  const kind = op && jobOf[op.step];
  const job = kind && jobs?.get(kind);
  const own = job?.op === op?.id ? job : undefined;
  const nothing = beforeFence.includes(phase) ? '; nothing is changed yet' : '';
  if (!own || own.reason === 'Running') {
    const also = kept.includes(phase) && trouble !== undefined ? `; ${trouble}` : '';
    // It may have formed, and do nothing, but for that.
    if (phase === 'Pending')
      return {
        reason: 'Waiting',
        message: `${inFront(doc) ?? (also ? 'waits until the cluster can begin it' : waits)}${also}`,
      };
    return { reason: phase, message: `${own ? runs : waits}${nothing}${leftOut(op, before)}${also}` };
  }
  const { reason, message } = own;
  if (before?.phase === phase && isHidden(before, own)) return { reason: before.reason!, message: before.message! };
  return { reason, message: `${message}${nothing}` };
}

/** What the cluster is busy with. */
function inFront(doc: RecordDoc | undefined): string | undefined {
  const op = doc?.op;
  if (!op) return undefined;
  if (op.kind !== 'Restore') return `waits for the present operation of the cluster: ${op.kind}`;
  const { id } = op.args;
  const what = id.startsWith('origin:') ? 'the birth of the cluster from a backup' : 'a restart of the only member';
  return id.includes(':') ? `waits for ${what}` : `EtcdRestore ${id} comes first: see there what it waits for`;
}

/** It was asked for, and is not there past its step. A record of an older release does not name one that was taken. */
const leftOut = (op: RestoreOp | undefined, before: Status): string =>
  op?.args.safetyBackup &&
  ['fence', 'drain', 'seed', 'restore'].includes(op.step) &&
  (op.args.safetyBackupId ?? before?.safetyBackupId) === undefined
    ? '; no safety backup was taken: no quorum answered'
    : '';

/** A Job that has not started yet is no news. */
function eventOf(phase: Phase, { reason, message }: Why, before: Status): EventOf | undefined {
  if (isStuck(reason) || reason === 'Retrying' || reason === 'JobFailed') {
    const isTold = before?.phase === phase && before.reason === reason;
    const isSame = reason !== 'Retrying' || before?.message === message;
    return isTold && isSame ? undefined : { type: 'Warning', reason, message };
  }
  return phase === 'Pending' || before?.phase === phase ? undefined : { type: 'Normal', reason: phase, message };
}

/** What is lost by it stands wherever it is said how far it is. */
export const withPassedOver = (message: string, { passedOver }: { readonly passedOver?: string } = {}): string =>
  passedOver && !message.includes(passedOver) ? `${message}; ${passedOver}` : message;

/** What the status of a cluster says of what keeps it. */
export function troubleOf(status: Partial<ClusterStatus> | undefined): string | undefined {
  const find = (type: string, is: string) =>
    status?.conditions?.find((each) => each.type === type && each.status === is);
  const template = find('Accepted', 'False');
  const trouble = [find('Stalled', 'True'), find('Degraded', 'True')].find(
    (each) => each && each.reason !== 'Starting',
  );
  const all = [template?.reason === 'TemplateMismatch' ? template.message : undefined, trouble?.message];
  return all.filter(Boolean).join('; ') || undefined;
}

/** For `kubectl wait --for=condition=Completed`. */
export function outcomeConditions(
  { phase, reason, message }: { readonly phase: string; readonly reason: string; readonly message: string },
  lastTransitionTime: string,
): object[] {
  return ['Completed', 'Failed'].map((type) => ({
    ...{ type, status: phase === type ? 'True' : 'False', reason, message, lastTransitionTime },
  }));
}

/** Tells EtcdRestores how far they are, as the record has it. Nothing waits for it: the record alone decides. */
export class RestoreProgress {
  readonly #client: ApiClient;
  readonly #context: ClusterContext;
  readonly #seen: () => Seen;

  constructor(context: ClusterContext, seen: () => Seen) {
    this.#client = context.client;
    this.#context = context;
    this.#seen = seen;
  }

  tell(restores: readonly EtcdRestoreObject[]): void {
    for (const restore of restores) void this.#tell(restore);
  }

  async #tell(restore: EtcdRestoreObject): Promise<void> {
    const { paths, log } = this.#context;
    const { name, uid, resourceVersion } = restore.metadata;
    const progress = progressOf(restore, this.#seen(), `${new Date().toISOString().slice(0, 19)}Z`);
    if (!progress) return;
    const { status, event } = progress;
    try {
      // What was written since then is newer.
      await this.#client.merge(paths.of('etcdrestores', name, 'status'), {
        metadata: { uid, resourceVersion },
        status,
      });
      if (event) this.#context.tell(event.type, event.reason, event.message, { kind: 'EtcdRestore', name, uid });
    } catch (error) {
      if (!isStatus(error, 409) && !isStatus(error, 404)) {
        log.warn(`the progress of EtcdRestore ${name} could not be written: ${messageOf(error)}`);
      }
    }
  }
}
