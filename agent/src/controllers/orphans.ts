import type { ApiClient } from '../kube/api-client.ts';
import { isStatus } from '../kube/api-error.ts';
import type { Paths } from '../kube/paths.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { outcomeConditions } from '../protocol/outcome-conditions.ts';
import { userReasons } from '../protocol/user-reasons.ts';
import { phasesPastFence } from './cluster/operations/record/new-record.ts';
import type { EtcdRestoreObject } from './objects/restore-object.ts';
import type { EtcdUserObject } from './objects/user-object.ts';
import type { AtPoint } from './port/port.ts';
import { statusOf } from './users/status.ts';

export interface OrphanOptions {
  readonly client: ApiClient;
  readonly paths: Paths;
  readonly log: Pick<Log, 'warn'>;
  /** Throws without the Lease. */
  readonly at: AtPoint;
  /** Names of the existing EtcdClusters. */
  readonly clusters: () => readonly string[];
}

const reason = 'ClusterNotFound';

/** Reports in the status of EtcdRestores and EtcdUsers that their cluster does not exist. Only clusters report on the others. */
export async function reportOrphans(
  { client, paths, log, at, clusters }: OrphanOptions,
  restores: readonly EtcdRestoreObject[],
  users: readonly EtcdUserObject[],
): Promise<void> {
  const names = clusters();
  const report = async (
    kind: 'EtcdRestore' | 'EtcdUser',
    { metadata: { name, uid, resourceVersion }, spec }: EtcdRestoreObject | EtcdUserObject,
    status: object | undefined,
  ) => {
    if (names.includes(spec.clusterName) || !status) return;
    try {
      await at('before ReportOrphan');
      const body = { metadata: { uid, resourceVersion }, status };
      const resource = kind === 'EtcdUser' ? 'etcdusers' : 'etcdrestores';
      await client.merge(paths.of(resource, name, 'status'), body);
      await at('after ReportOrphan');
    } catch (error) {
      if (!isStatus(error, 409) && !isStatus(error, 404)) log.warn(`${kind} ${name}: ${messageOf(error)}`);
    }
  };
  await Promise.all([
    ...restores.map((restore) => report('EtcdRestore', restore, restoreStatus(restore))),
    ...users.map((user) => report('EtcdUser', user, userStatus(user))),
  ]);
}

/** Undefined if there is nothing to write. */
function restoreStatus({ metadata, spec, status: before = {} }: EtcdRestoreObject): object | undefined {
  const { phase = 'Pending' } = before;
  if (phase === 'Completed' || phase === 'Failed' || before.reason === reason) return undefined;
  const outcome = {
    // Kept, so that the restore does not begin anew in another cluster of this name.
    phase: phasesPastFence.includes(phase) ? phase : 'Pending',
    reason,
    message: `EtcdCluster ${spec.clusterName} does not exist in this namespace; waiting for it`,
    observedGeneration: metadata.generation,
  };
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  return { ...outcome, conditions: outcomeConditions(outcome, before.conditions, now) };
}

function userStatus(user: EtcdUserObject): object | undefined {
  const message = `EtcdCluster ${user.spec.clusterName}: ${userReasons[reason]}`;
  return statusOf(user, { status: 'False', reason, message }, undefined, Date.now());
}
