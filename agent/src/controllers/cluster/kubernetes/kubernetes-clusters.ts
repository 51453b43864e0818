import { isStatus, unlessMissing } from '../../../kube/api-error.ts';
import { groupVersion } from '../../../kube/paths.ts';
import type { ClusterStatus } from '../../../protocol/cluster-status.ts';
import type { Going } from '../../shutdown.ts';
import type { Cluster, ClusterBackups, RestoreRequest } from '../observed.ts';
import type { Clusters } from '../port.ts';
import type { ClusterContext } from './cluster-context.ts';
import { clusterOf, type EtcdClusterObject, finalizer } from './cluster-object.ts';
import { conditionEvents } from './condition-events.ts';
import { type EtcdRestoreObject, restoreOf } from './restore-object.ts';
import { outcomeConditions, type RestoreProgress, withPassedOver } from './restore-progress.ts';

export interface ClustersOptions {
  readonly context: ClusterContext;
  readonly going: Going;
  /** What is known of its backups; read for the status alone. */
  readonly backups?: (cluster: EtcdClusterObject) => ClusterBackups;
  /** Told each status that is read, once in a pass, or written. */
  readonly seen: (status: Partial<ClusterStatus>, how: 'read' | 'written') => void;
  readonly progress: RestoreProgress;
}

/** The EtcdCluster and its EtcdRestores. Status and finalizer are written, a spec never. */
export class KubernetesClusters implements Clusters {
  readonly #context: ClusterContext;
  readonly #options: ClustersOptions;
  /** It can no longer be read: what was written since may be newer. */
  #isLast = false;

  /** As they were listed last. */
  #seen: readonly EtcdRestoreObject[] = [];

  constructor(options: ClustersOptions) {
    this.#options = options;
    this.#context = options.context;
  }

  async cluster(): Promise<Cluster | undefined> {
    const { domain, look } = this.#context;
    const found = await look.at('etcdclusters', () => this.#find());
    this.#context.seenCluster(found);
    if (!found) return undefined;
    this.#options.seen(found.status ?? {}, 'read');
    const backups = this.#options.backups?.(found);
    const seen = {
      ...clusterOf(found, { ...(domain !== undefined && { domain }), reconcilerGoing: false }),
      ...(backups && { backups }),
    };
    const matters = seen.finalizer || seen.spec.onDelete === 'Delete' || seen.spec.finalBackupRequired;
    return matters ? { ...seen, ...(await this.#going(seen)) } : seen;
  }

  async restores(): Promise<RestoreRequest[]> {
    const ours = await this.#context.look.at('etcdrestores', () => this.#restores());
    this.#seen = ours;
    this.#options.progress.tell(ours);
    return ours.map(restoreOf);
  }

  setFinalizer(basedOn: string): Promise<void> {
    return this.#patchFinalizers(basedOn, (others) => [...others, finalizer]);
  }

  async releaseFinalizer(basedOn: string): Promise<void> {
    const { deletionTimestamp } = this.#context.cluster?.metadata ?? {};
    await this.#patchFinalizers(basedOn, (others) => others);
    if (deletionTimestamp !== undefined) {
      this.#context.tell('Normal', 'FinalizerReleased', 'nothing waits for the reconciler any more');
    }
  }

  async reportStatus(status: ClusterStatus): Promise<void> {
    const { client, paths, name, cluster } = this.#context;
    if (!cluster) return;
    const body = {
      apiVersion: groupVersion,
      kind: 'EtcdCluster',
      metadata: { name, uid: cluster.metadata.uid },
      status,
    };
    await client.apply(paths.of('etcdclusters', name, 'status'), body);
    this.#options.seen(status, 'written');
    for (const { type, reason, message } of conditionEvents(cluster.status, status)) {
      this.#context.tell(type, reason, message);
    }
  }

  async reportRestore({ name, uid, ...said }: Parameters<Clusters['reportRestore']>[0]): Promise<void> {
    const { client, paths } = this.#context;
    const well = said.phase === 'Completed';
    const before = this.#seen.find(({ metadata }) => metadata.uid === uid)?.status;
    const outcome = { ...said, ...(well && { message: withPassedOver(said.message, before) }) };
    const path = paths.of('etcdrestores', name, 'status');
    const completionTime = `${new Date().toISOString().slice(0, 19)}Z`;
    const conditions = outcomeConditions(outcome, completionTime);
    const body = { metadata: { uid }, status: { ...outcome, completionTime, conditions } };
    if (!(await client.merge(path, body).catch(unlessMissing))) return;
    this.#context.tell(well ? 'Normal' : 'Warning', well ? 'RestoreCompleted' : 'RestoreFailed', outcome.message, {
      ...{ kind: 'EtcdRestore', name, uid },
    });
  }

  async #find(): Promise<EtcdClusterObject | undefined> {
    const { client, paths, name } = this.#context;
    // There is no right to get one.
    const query = { fieldSelector: `metadata.name=${name}` };
    const { items } = await client
      .list<EtcdClusterObject>(paths.of('etcdclusters'), query)
      .catch((error: unknown) => this.#lastSeen(error));
    return items.find(({ metadata }) => metadata.name === name);
  }

  /** At the end its Roles may be gone; as it was is enough to let go of it. */
  #lastSeen(error: unknown): { items: EtcdClusterObject[] } {
    const { cluster } = this.#context;
    if (!cluster || !this.#options.going.ending || !isStatus(error, 403)) throw error;
    this.#isLast = true;
    return { items: [cluster] };
  }

  async #restores(): Promise<EtcdRestoreObject[]> {
    const { client, paths, name } = this.#context;
    const { items } = await client.list<EtcdRestoreObject>(paths.of('etcdrestores'));
    return items.filter(({ spec }) => spec.clusterName === name);
  }

  async #patchFinalizers(basedOn: string, change: (others: readonly string[]) => readonly string[]): Promise<void> {
    const { client, paths, name, cluster } = this.#context;
    if (cluster?.metadata.resourceVersion !== basedOn) throw new Error(`EtcdCluster ${name} has changed`);
    const others = (cluster.metadata.finalizers ?? []).filter((other) => other !== finalizer);
    const { uid } = cluster.metadata;
    const body = { metadata: { uid, ...(!this.#isLast && { resourceVersion: basedOn }), finalizers: change(others) } };
    await client.merge(paths.of('etcdclusters', name), body);
  }

  /** Whether nobody will be there to do what a finalizer waits for. */
  async #going(cluster: Cluster): Promise<Pick<Cluster, 'deleting' | 'reconcilerGoing'>> {
    const { going } = this.#options;
    const [namespace, own] = await Promise.all([going.namespace(), going.own()]);
    const nobody = namespace || own || (cluster.deleting && cluster.finalizer && (await this.#rightsAreGone()));
    // A namespace takes its pods first, this one too: its clusters are deleted when it is too late.
    return { deleting: cluster.deleting || namespace, reconcilerGoing: nobody };
  }

  /** The cluster's Role went with its other manifests, at the same time: there is nothing left that it could back up or delete. */
  async #rightsAreGone(): Promise<boolean> {
    const { client, paths, name } = this.#context;
    const hidden = await client.get(paths.of('configmaps', `${name}-record`)).then(
      () => false,
      (error: unknown) => isStatus(error, 403),
    );
    const query = { fieldSelector: `metadata.name=${name}` };
    return hidden && (await client.list(paths.of('statefulsets'), query)).items.length === 0;
  }
}
