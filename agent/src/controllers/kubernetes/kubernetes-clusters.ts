import { madeFrom } from '../../../../src/cluster/manifests/made-from.ts';
import { recordName } from '../../../../src/etcd/record-name.ts';
import type { NamedTls } from '../../../../src/tls/default-names.ts';
import { isStatus, unlessMissing } from '../../kube/api-error.ts';
import { mergePatch } from '../../kube/merge-patch.ts';
import type { ClusterStatus } from '../../protocol/cluster-status.ts';
import type { Naming } from '../../protocol/kept-snapshots.ts';
import { outcomeConditions } from '../../protocol/outcome-conditions.ts';
import { jobProblem } from '../jobs/job-overrides.ts';
import {
  clusterOf,
  type EtcdClusterObject,
  finalizer,
  type ReturnedCluster,
  readCluster,
} from '../objects/cluster-object.ts';
import { type EtcdRestoreObject, restoreOf } from '../objects/restore-object.ts';
import type {
  AuthReport,
  CertificateReport,
  Cluster,
  ClusterBackups,
  RestoreRequest,
  TrustReport,
} from '../port/observed.ts';
import type { Clusters } from '../port/port.ts';
import type { ClusterContext } from './cluster-context.ts';
import { type RestoreProgress, withNotes } from './restore-progress.ts';
import type { Shutdown } from './shutdown.ts';
import { conditionEvents, operationEvents } from './status-events.ts';

export interface ClustersOptions {
  readonly context: ClusterContext;
  readonly shutdown: Shutdown;
  /** Returns the known backups of a cluster, which only the status needs. */
  readonly backups?: (cluster: EtcdClusterObject) => ClusterBackups;
  /** Returns what is known of the certificates, if the reconciler issues them. */
  readonly certificates?: () => CertificateReport | undefined;
  /** Returns whether both sources of certificates are trusted, while one follows the other. */
  readonly trust?: (tls: NamedTls) => TrustReport;
  /** Returns what is known of etcd's authentication. */
  readonly authentication?: () => AuthReport | undefined;
  readonly progress: RestoreProgress;
  /** Returns the Lease of the other reconciler that follows the cluster, if there is one. */
  readonly followedBy?: (cluster: EtcdClusterObject) => Promise<string | undefined>;
  /** Returns the id of the snapshot that an EtcdBackup has stored. */
  readonly snapshotOf?: ((backup: string) => string | undefined) | undefined;
}

/** What follows from the spec alone is worked out when it has changed, not in each pass. */
interface FoundCluster extends EtcdClusterObject {
  readonly madeFrom: string;
  readonly jobProblem: string | undefined;
}

/** The EtcdCluster and its EtcdRestores. Writes status and finalizer, but never a spec. */
export class KubernetesClusters implements Clusters {
  readonly #context: ClusterContext;
  readonly #options: ClustersOptions;
  /** The cluster can no longer be read, so the known resourceVersion may be outdated. */
  #isStale = false;
  /** No other reconciler follows the cluster. */
  #isOurs = false;

  /** The EtcdRestores as last listed. */
  #listed: readonly EtcdRestoreObject[] | undefined;

  constructor(options: ClustersOptions) {
    this.#options = options;
    this.#context = options.context;
  }

  async cluster(): Promise<Cluster | undefined> {
    const { domain, cache } = this.#context;
    const found = await cache.get('etcdclusters', () => this.#find());
    this.#context.setCluster(found);
    if (!found) return undefined;
    const backups = this.#options.backups?.(found);
    const certificates = this.#options.certificates?.();
    const { tls } = found.spec;
    const trust = tls?.alsoTrust && this.#options.trust?.(tls);
    const authentication = this.#options.authentication?.();
    const other = await this.#options.followedBy?.(found);
    this.#isOurs = other === undefined;
    const cluster = {
      followedBy: other,
      ...{ jobProblem: found.jobProblem, backups, certificates, trust, authentication },
      ...clusterOf(found, { domain, reconcilerGoing: false }),
      madeFrom: found.madeFrom,
    };
    const { onDelete, finalBackupRequired } = cluster.spec;
    const mattersForFinalizer = cluster.finalizer || onDelete === 'Delete' || finalBackupRequired;
    return mattersForFinalizer ? { ...cluster, ...(await this.#deletion(cluster)) } : cluster;
  }

  async restores(): Promise<RestoreRequest[]> {
    const ours = await this.#context.cache.get('etcdrestores', () => this.#restores());
    this.#listed = ours;
    if (this.#isOurs) this.#options.progress.report(ours);
    return ours.map(restoreOf);
  }

  /** What the EtcdRestores name, as last listed; undefined: not yet. */
  get naming(): Naming[] | undefined {
    return this.#listed?.map((each) => {
      const { backupName = '' } = each.spec.source;
      const ofBackup = this.#options.snapshotOf?.(backupName);
      const { snapshots = [], ...request } = restoreOf(each);
      return { ...request, snapshots: ofBackup === undefined ? snapshots : [...snapshots, ofBackup] };
    });
  }

  setFinalizer(basedOn: string): Promise<void> {
    return this.#patchFinalizers(basedOn, (others) => [...others, finalizer]);
  }

  async releaseFinalizer(basedOn: string): Promise<void> {
    const { deletionTimestamp } = this.#context.cluster?.metadata ?? {};
    await this.#patchFinalizers(basedOn, (others) => others);
    if (deletionTimestamp !== undefined) {
      this.#context.emitEvent(
        'Normal',
        'FinalizerReleased',
        'Released the finalizer: the reconciler has nothing left to do',
      );
    }
  }

  async reportStatus(status: ClusterStatus): Promise<void> {
    const { client, paths, name, cluster, cache } = this.#context;
    if (!cluster) return;
    const body = { metadata: { uid: cluster.metadata.uid }, status: mergePatch(cluster.status, status) };
    type Kept = Pick<EtcdClusterObject, 'status'>;
    const { status: kept = {} } = await client.merge<Kept>(paths.of('etcdclusters', name, 'status'), body);
    // A pass before the watch reports this write would find the old status, and write and tell everything again.
    cache.changed('etcdclusters');
    // CRDs of an older release drop an operation, which would otherwise begin in every pass.
    const operations = {
      operation: kept.operation && status.operation,
      lastOperation: kept.lastOperation && status.lastOperation,
    };
    const events = [...conditionEvents(cluster.status, status), ...operationEvents(cluster.status, operations)];
    for (const { type, reason, message } of events) {
      this.#context.emitEvent(type, reason, message);
    }
  }

  async reportRestore({ name, uid, ...report }: Parameters<Clusters['reportRestore']>[0]): Promise<void> {
    const { client, paths } = this.#context;
    const isCompleted = report.phase === 'Completed';
    const { metadata, status: before } = this.#listed?.find(({ metadata }) => metadata.uid === uid) ?? {};
    const outcome = {
      ...report,
      ...(isCompleted && { message: withNotes(report.message, before) }),
      observedGeneration: metadata?.generation,
    };
    const path = paths.of('etcdrestores', name, 'status');
    const completionTime = `${new Date().toISOString().slice(0, 19)}Z`;
    const conditions = outcomeConditions(outcome, before?.conditions, completionTime);
    const body = { metadata: { uid }, status: { ...outcome, completionTime, conditions } };
    if (!(await client.merge(path, body).catch(unlessMissing))) return;
    const restore = { kind: 'EtcdRestore', name, uid };
    if (isCompleted) this.#context.emitEvent('Normal', 'RestoreCompleted', outcome.message, restore);
    else this.#context.emitEvent('Warning', 'RestoreFailed', outcome.message, restore);
  }

  async #find(): Promise<FoundCluster | undefined> {
    const { client, paths, name } = this.#context;
    // A list request, because the Role does not allow `get`.
    const query = { fieldSelector: `metadata.name=${name}` };
    const { items } = await client
      .list<ReturnedCluster>(paths.of('etcdclusters'), query)
      .catch((error: unknown) => this.#lastKnown(error));
    const found = items.find(({ metadata }) => metadata.name === name);
    if (!found) return undefined;
    const cluster = readCluster(found);
    return { ...cluster, madeFrom: madeFrom(found.spec), jobProblem: jobProblem(cluster) };
  }

  /** During shutdown the Role may already be deleted. The last known state is enough to release the finalizer. */
  #lastKnown(error: unknown): { items: ReturnedCluster[] } {
    const { cluster } = this.#context;
    if (!cluster || !this.#options.shutdown.ending || !isStatus(error, 403)) throw error;
    this.#isStale = true;
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
    const body = {
      metadata: { uid, resourceVersion: this.#isStale ? undefined : basedOn, finalizers: change(others) },
    };
    await client.merge(paths.of('etcdclusters', name), body);
  }

  /** Determines whether the cluster is being deleted, and whether a reconciler will be left to do the work behind the finalizer. */
  async #deletion(cluster: Cluster): Promise<Pick<Cluster, 'deleting' | 'reconcilerGoing'>> {
    const { shutdown } = this.#options;
    const [namespace, own] = await Promise.all([shutdown.namespace(), shutdown.own()]);
    const isGoing = namespace || own || (cluster.deleting && cluster.finalizer && (await this.#rightsAreGone()));
    // A namespace is deleted with its pods first, including this one, so its clusters count as being deleted already.
    return { deleting: cluster.deleting || namespace, reconcilerGoing: isGoing };
  }

  /** The cluster's Role was deleted together with its other manifests, so there is nothing left to back up or delete. */
  async #rightsAreGone(): Promise<boolean> {
    const { client, paths, name } = this.#context;
    const hidden = await client.get(paths.of('configmaps', recordName(name))).then(
      () => false,
      (error: unknown) => isStatus(error, 403),
    );
    const query = { fieldSelector: `metadata.name=${name}` };
    return hidden && (await client.list(paths.of('statefulsets'), query)).items.length === 0;
  }
}
