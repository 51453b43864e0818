import { messageOf } from '../errors.ts';
import type { RecordDoc, RestoreStep } from '../reconcile/record.ts';
import type { ApiClient } from './api-client.ts';
import { isStatus } from './api-error.ts';
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

const messages: Readonly<Record<Phase, string>> = {
  Pending: 'waits until the cluster has formed, and is done with what it does now',
  Verifying: 'the snapshot is fetched and tried; the cluster serves as before',
  BackingUp: 'a backup is taken of the data that will be replaced; the cluster serves as before',
  Fencing: 'the old data is shut out: from here on there is no way back',
  Draining: 'the old pods end',
  Restoring: 'the first member restores the snapshot',
  Regrowing: 'the cluster serves the restored data, and the other members join',
};

/** undefined where nothing is to be said: it is over, or is about to be. */
export function phaseOf({ metadata, status }: EtcdRestoreObject, doc: RecordDoc | undefined): Phase | undefined {
  if (status?.phase === 'Completed' || status?.phase === 'Failed') return undefined;
  const { name } = metadata;
  const op = doc?.op;
  if (op?.kind === 'Restore' && op.args.id === name) return phases[op.step];
  return doc?.restores.some(({ id }) => id === name) ? 'Regrowing' : 'Pending';
}

interface Seen {
  readonly doc: RecordDoc | undefined;
  /** The snapshot that the Job serves, and for which operation. */
  readonly served: { readonly op: string; readonly id: string } | undefined;
}

/** The status to merge; undefined when it says all that already. */
export function progressOf(restore: EtcdRestoreObject, { doc, served }: Seen, now: string): object | undefined {
  const phase = phaseOf(restore, doc);
  if (phase === undefined) return undefined;
  const { status } = restore;
  const op = doc?.op?.kind === 'Restore' && doc.op.args.id === restore.metadata.name ? doc.op : undefined;
  const snapshotId = op && served?.op === op.id ? served.id : undefined;
  const named = snapshotId === undefined || status?.snapshotId === snapshotId;
  const reason = phase === 'Pending' ? 'Waiting' : phase;
  if (status?.phase === phase && status.reason === reason && named) return undefined;
  const timeOf = `${phase[0]!.toLowerCase()}${phase.slice(1)}Time`;
  return {
    phase,
    reason,
    message: messages[phase],
    observedGeneration: restore.metadata.generation,
    ...(phase !== 'Pending' && !status?.startTime && { startTime: op?.startedAt ?? now }),
    ...(phase !== 'Pending' && !status?.[timeOf] && { [timeOf]: now }),
    ...(snapshotId !== undefined && { snapshotId }),
  };
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
    const status = progressOf(restore, this.#seen(), `${new Date().toISOString().slice(0, 19)}Z`);
    if (!status) return;
    try {
      // What was written since then is newer.
      await this.#client.merge(paths.of('etcdrestores', name, 'status'), {
        metadata: { uid, resourceVersion },
        status,
      });
    } catch (error) {
      if (!isStatus(error, 409) && !isStatus(error, 404)) {
        log.warn(`the progress of EtcdRestore ${name} could not be written: ${messageOf(error)}`);
      }
    }
  }
}
