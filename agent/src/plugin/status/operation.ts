import type { Op, RestoreStep } from '../../protocol/record.ts';
import { isOver, isPending, type RestoreObject } from '../objects.ts';
import type { Facts } from './read.ts';

/** What the reconciler is doing. `done` and `next` are empty for an operation of one step. */
export interface Operation {
  readonly what: string;
  readonly since?: string | undefined;
  readonly done: readonly string[];
  readonly now?: string | undefined;
  readonly next: readonly string[];
  readonly message?: string | undefined;
}

/** The phases of an EtcdRestore, in order. */
export const restorePhases = [
  'Pending',
  'Verifying',
  'BackingUp',
  'Fencing',
  'Draining',
  'Restoring',
  'Regrowing',
  'Completed',
];

/** The steps of each kind of operation, in order. The others have one. */
const steps: Partial<Record<Op['kind'], readonly string[]>> = {
  Restore: ['verify', 'safety', 'fence', 'drain', 'seed', 'restore', 'report'] satisfies RestoreStep[],
  Recover: [
    'backup',
    'salvage',
    'verify',
    'safety',
    'fence',
    'drain',
    'seed',
    'restore',
    'report',
  ] satisfies RestoreStep[],
  Remove: ['remove', 'claim'],
  ClearNoSpace: ['compact', 'defrag', 'disarm'],
  Delete: ['backup', 'scale', 'claims'],
};

export function operationOf({ cluster, restores, op, pods, statefulSet }: Facts): Operation | undefined {
  const restore = restores.find((each) => !isOver(each) && !isPending(each));
  if (restore) return ofRestore(restore);
  const progressing = cluster.status?.conditions?.find(({ type }) => type === 'Progressing');
  const message = progressing?.status === 'True' ? progressing.message : undefined;
  if (op) return { ...ofOp(op), message };
  if (progressing?.status !== 'True') return undefined;
  const current = statefulSet?.status?.updateRevision;
  const isNew = (pod: NonNullable<typeof pods>[number]): boolean =>
    pod.metadata.labels?.['controller-revision-hash'] === current;
  const template =
    pods && current && pods.length > 0 && !pods.every(isNew)
      ? `${pods.filter(isNew).length} of ${pods.length} pods have the present template`
      : undefined;
  return {
    what: progressing.reason,
    since: progressing.lastTransitionTime,
    done: [],
    next: [],
    message: [progressing.message, template].filter(Boolean).join('; '),
  };
}

function ofRestore({ metadata, status = {} }: RestoreObject): Operation {
  return {
    what: `EtcdRestore ${metadata.name}`,
    since: status.startTime,
    ...around(restorePhases.slice(1, -1), status.phase),
    message: status.message,
  };
}

function ofOp(op: Op): Operation {
  const target = 'ordinal' in op ? ` of member ${op.ordinal}` : op.kind === 'Upgrade' ? ` to ${op.to}` : '';
  const step = 'step' in op ? op.step : undefined;
  return { what: `${op.kind}${target}`, since: op.startedAt, ...around(steps[op.kind] ?? [], step) };
}

/** Steps may be skipped, so that one before the present step has ended or was not needed. */
function around(all: readonly string[], now: string | undefined): Pick<Operation, 'done' | 'now' | 'next'> {
  const at = now === undefined ? -1 : all.indexOf(now);
  return at < 0 ? { done: [], now, next: [] } : { done: all.slice(0, at), now, next: all.slice(at + 1) };
}
