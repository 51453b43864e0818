import type { ReportedOperation } from '../../protocol/cluster-status.ts';
import { isOver, isPending } from '../objects.ts';
import type { StatusFacts } from './read.ts';

/** What the reconciler is doing. */
export interface Operation extends Partial<ReportedOperation> {
  readonly type: string;
  /** The name of the EtcdRestore that asked for it. */
  readonly restore?: string;
  readonly message?: string | undefined;
}

/** The reconciler writes its operation into the status; an EtcdRestore says more about itself. */
export function operationOf({ cluster, restores, pods, statefulSet }: StatusFacts): Operation | undefined {
  const { operation, conditions = [] } = cluster.status ?? {};
  const restore = restores.find((each) => !isOver(each) && !isPending(each));
  if (restore) {
    const { phase, startTime, message } = restore.status ?? {};
    const { name } = restore.metadata;
    // Until the restore has its turn, the reconciler may be busy with something else.
    const own =
      operation?.type === 'Restoring' ? operation : { type: `Restoring, phase ${phase}`, startedAt: startTime };
    return { ...own, restore: name, message };
  }
  if (!operation) return undefined;
  const progressing = conditions.find(({ type }) => type === 'Progressing');
  const current = statefulSet?.status?.updateRevision;
  const isNew = (pod: NonNullable<typeof pods>[number]): boolean =>
    pod.metadata.labels?.['controller-revision-hash'] === current;
  const template =
    pods && current && pods.length > 0 && !pods.every(isNew)
      ? `${pods.filter(isNew).length} of ${pods.length} pods have the present template`
      : undefined;
  const said = progressing?.status === 'True' ? progressing.message : undefined;
  return { ...operation, message: [said, template].filter(Boolean).join('; ') || undefined };
}
