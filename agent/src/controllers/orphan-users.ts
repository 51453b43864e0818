import { isStatus } from '../kube/api-error.ts';
import { messageOf } from '../lib/errors.ts';
import { userReasons } from '../protocol/user-reasons.ts';
import type { EtcdUserObject } from './objects/user-object.ts';
import type { OrphanOptions } from './orphan-restores.ts';
import { statusOf } from './users/status.ts';

/** Reports in the status of EtcdUsers that their cluster does not exist. Only clusters report on the other EtcdUsers. */
export class OrphanUsers {
  readonly #options: OrphanOptions;

  constructor(options: OrphanOptions) {
    this.#options = options;
  }

  async check(users: readonly EtcdUserObject[]): Promise<void> {
    const clusters = this.#options.clusters();
    const orphans = users.filter(({ spec }) => !clusters.includes(spec.clusterName));
    await Promise.all(orphans.map((user) => this.#report(user)));
  }

  async #report(user: EtcdUserObject): Promise<void> {
    const { client, paths, log, at } = this.#options;
    const { name, uid, resourceVersion } = user.metadata;
    const reason = 'ClusterNotFound';
    const message = `EtcdCluster ${user.spec.clusterName}: ${userReasons.ClusterNotFound}`;
    const status = statusOf(user, { status: 'False', reason, message }, undefined, Date.now());
    if (!status) return;
    try {
      await at('before ReportOrphan');
      await client.merge(paths.of('etcdusers', name, 'status'), { metadata: { uid, resourceVersion }, status });
      await at('after ReportOrphan');
    } catch (error) {
      if (!isStatus(error, 409) && !isStatus(error, 404)) log.warn(`EtcdUser ${name}: ${messageOf(error)}`);
    }
  }
}
