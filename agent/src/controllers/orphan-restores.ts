import type { ApiClient } from '../kube/api-client.ts';
import { isStatus } from '../kube/api-error.ts';
import type { Paths } from '../kube/paths.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { outcomeConditions } from '../protocol/outcome-conditions.ts';
import { phasesPastFence } from './cluster/operations/record/new-record.ts';
import type { EtcdRestoreObject } from './objects/restore-object.ts';
import type { AtPoint } from './port/port.ts';

const reason = 'ClusterNotFound';

export interface OrphanOptions {
  readonly client: ApiClient;
  readonly paths: Paths;
  readonly log: Pick<Log, 'warn'>;
  /** Throws without the Lease. */
  readonly at: AtPoint;
  /** Names of the existing EtcdClusters. */
  readonly clusters: () => readonly string[];
}

/** Reports in the status of EtcdRestores that their cluster does not exist. Only clusters report on the other EtcdRestores. */
export class OrphanRestores {
  readonly #options: OrphanOptions;

  constructor(options: OrphanOptions) {
    this.#options = options;
  }

  async check(restores: readonly EtcdRestoreObject[]): Promise<void> {
    const clusters = this.#options.clusters();
    const orphans = restores.filter(({ spec, status: { phase, reason: reported } = {} }) => {
      const isOver = phase === 'Completed' || phase === 'Failed';
      return !isOver && reported !== reason && !clusters.includes(spec.clusterName);
    });
    await Promise.all(orphans.map((restore) => this.#report(restore)));
  }

  async #report({ metadata, spec, status: before }: EtcdRestoreObject): Promise<void> {
    const { client, paths, log, at } = this.#options;
    const { name, uid, resourceVersion, generation } = metadata;
    const message = `EtcdCluster ${spec.clusterName} does not exist in this namespace; waiting for it`;
    // Kept, so that the restore does not begin anew in another cluster of this name.
    const phase = before?.phase && phasesPastFence.includes(before.phase) ? before.phase : 'Pending';
    const outcome = { phase, reason, message, observedGeneration: generation };
    const now = `${new Date().toISOString().slice(0, 19)}Z`;
    const status = { ...outcome, conditions: outcomeConditions(outcome, before?.conditions, now) };
    try {
      await at('before ReportOrphan');
      await client.merge(paths.of('etcdrestores', name, 'status'), { metadata: { uid, resourceVersion }, status });
      await at('after ReportOrphan');
    } catch (error) {
      if (!isStatus(error, 409) && !isStatus(error, 404)) log.warn(`EtcdRestore ${name}: ${messageOf(error)}`);
    }
  }
}
