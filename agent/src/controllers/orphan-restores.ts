import type { ApiClient } from '../kube/api-client.ts';
import { isStatus } from '../kube/api-error.ts';
import type { Paths } from '../kube/paths.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { EtcdRestoreObject } from './cluster/kubernetes/restore-object.ts';

const reason = 'ClusterNotFound';

export interface OrphanOptions {
  readonly client: ApiClient;
  readonly paths: Paths;
  readonly log: Pick<Log, 'warn'>;
  /** Names of the EtcdClusters that there are. */
  readonly clusters: () => readonly string[];
}

/** Tells EtcdRestores that their cluster is not there: nobody else looks at them. */
export class OrphanRestores {
  readonly #options: OrphanOptions;

  constructor(options: OrphanOptions) {
    this.#options = options;
  }

  look(restores: readonly EtcdRestoreObject[]): void {
    const clusters = this.#options.clusters();
    for (const restore of restores) {
      const { phase, reason: told } = restore.status ?? {};
      const over = phase === 'Completed' || phase === 'Failed';
      if (!over && told !== reason && !clusters.includes(restore.spec.clusterName)) void this.#tell(restore);
    }
  }

  async #tell({ metadata, spec }: EtcdRestoreObject): Promise<void> {
    const { client, paths, log } = this.#options;
    const { name, uid, resourceVersion, generation } = metadata;
    const message = `there is no EtcdCluster ${spec.clusterName} in this namespace; it begins when there is one`;
    const status = { phase: 'Pending', reason, message, observedGeneration: generation };
    try {
      await client.merge(paths.of('etcdrestores', name, 'status'), { metadata: { uid, resourceVersion }, status });
    } catch (error) {
      if (!isStatus(error, 409) && !isStatus(error, 404)) log.warn(`EtcdRestore ${name}: ${messageOf(error)}`);
    }
  }
}
