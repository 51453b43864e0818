import { messageOf } from '../errors.ts';
import type { ClusterStatus } from '../reconcile/cluster-status.ts';
import type { Cluster, ClusterBackups, RestoreRequest } from '../reconcile/observed.ts';
import type { Clusters } from '../reconcile/port.ts';
import { isStatus, unlessMissing } from './api-error.ts';
import type { ClusterContext } from './cluster-context.ts';
import { clusterOf, type EtcdClusterObject, finalizer } from './cluster-object.ts';
import { conditionEvents } from './condition-events.ts';
import type { KubeObject } from './objects.ts';
import { groupVersion } from './paths.ts';
import { type EtcdRestoreObject, restoreOf } from './restore-object.ts';
import { outcomeConditions, type RestoreProgress } from './restore-progress.ts';

export interface ClustersOptions {
  readonly context: ClusterContext;
  /** The Deployment that this reconciler is of; undefined outside of one. */
  readonly deployment?: string | undefined;
  /** What is known of its backups; read for the status alone. */
  readonly backups?: () => ClusterBackups;
  /** Told each status that is read, once in a pass, or written. */
  readonly seen: (status: Partial<ClusterStatus>, how: 'read' | 'written') => void;
  readonly progress: RestoreProgress;
}

/** The EtcdCluster and its EtcdRestores. Status and finalizer are written, a spec never. */
export class KubernetesClusters implements Clusters {
  readonly #context: ClusterContext;
  readonly #options: ClustersOptions;
  #complaint = '';

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
    const backups = this.#options.backups?.();
    const seen = { ...clusterOf(found, { domain, reconcilerGoing: false }), ...(backups && { backups }) };
    const matters = seen.finalizer || seen.spec.onDelete === 'Delete' || seen.spec.finalBackupRequired;
    return matters ? { ...seen, ...(await this.#going(seen)) } : seen;
  }

  async restores(): Promise<RestoreRequest[]> {
    const ours = await this.#context.look.at('etcdrestores', () => this.#restores());
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

  async reportRestore({ name, uid, ...outcome }: Parameters<Clusters['reportRestore']>[0]): Promise<void> {
    const { client, paths } = this.#context;
    const path = paths.of('etcdrestores', name, 'status');
    const completionTime = `${new Date().toISOString().slice(0, 19)}Z`;
    const conditions = outcomeConditions(outcome, completionTime);
    const body = { metadata: { uid }, status: { ...outcome, completionTime, conditions } };
    if (!(await client.merge(path, body).catch(unlessMissing))) return;
    const well = outcome.phase === 'Completed';
    this.#context.tell(well ? 'Normal' : 'Warning', well ? 'RestoreCompleted' : 'RestoreFailed', outcome.message, {
      ...{ kind: 'EtcdRestore', name, uid },
    });
  }

  async #find(): Promise<EtcdClusterObject | undefined> {
    const { client, paths, name } = this.#context;
    // There is no right to get one.
    const query = { fieldSelector: `metadata.name=${name}` };
    const { items } = await client.list<EtcdClusterObject>(paths.of('etcdclusters'), query);
    return items.find(({ metadata }) => metadata.name === name);
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
    const body = { metadata: { resourceVersion: basedOn, finalizers: change(others) } };
    await client.merge(paths.of('etcdclusters', name), body);
  }

  /** Whether nobody will be there to do what a finalizer waits for. */
  async #going({ deleting }: Cluster): Promise<Pick<Cluster, 'deleting' | 'reconcilerGoing'>> {
    const { client, paths } = this.#context;
    const { deployment } = this.#options;
    const [namespace, own] = await Promise.all([
      this.#isBeingDeleted(() => client.get(paths.namespace)),
      deployment === undefined ? false : this.#isBeingDeleted(() => client.get(paths.of('deployments', deployment))),
    ]);
    // A namespace takes its pods first, this one too: its clusters are deleted when it is too late.
    return { deleting: deleting || namespace, reconcilerGoing: namespace || own };
  }

  async #isBeingDeleted(get: () => Promise<KubeObject>): Promise<boolean> {
    try {
      return (await get()).metadata.deletionTimestamp !== undefined;
    } catch (error) {
      if (isStatus(error, 404)) return true;
      if (!isStatus(error, 403)) throw error;
      const complaint = messageOf(error);
      if (complaint !== this.#complaint) this.#context.log.warn(complaint);
      this.#complaint = complaint;
      return false;
    }
  }
}
