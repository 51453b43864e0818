import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiAccess } from '../kube/api-client.ts';
import { ApiClient } from '../kube/api-client.ts';
import { Troubles } from '../kube/event-reader.ts';
import { Events } from '../kube/events.ts';
import { isHolderPodGone } from '../kube/holder-pod.ts';
import type { InformerTimes } from '../kube/informer.ts';
import { Lease } from '../kube/lease.ts';
import type { KubeObject } from '../kube/objects.ts';
import { Paths } from '../kube/paths.ts';
import { messageOf } from '../lib/errors.ts';
import { HttpListener, send } from '../lib/http/http-listener.ts';
import type { ListenAddress } from '../lib/http/listen-address.ts';
import type { Log } from '../lib/log.ts';
import { sendMetrics } from '../lib/metrics/render.ts';
import { type Key, Queue } from '../lib/queue.ts';
import { agentVersion } from '../lib/version.ts';
import { clusterBackups } from './backup/cluster-backups.ts';
import { BackupController } from './backup/controller.ts';
import { findByName } from './backup/job-inputs.ts';
import { backupMetrics } from './backup/metrics.ts';
import { ClusterRunner } from './cluster-runner.ts';
import { ClientTls } from './kubernetes/client-tls.ts';
import { FollowedBy, hasReported } from './kubernetes/followed-by.ts';
import { Shutdown } from './kubernetes/shutdown.ts';
import type { EtcdBackupObject } from './objects/backup-object.ts';
import type { EtcdClusterObject } from './objects/cluster-object.ts';
import { ObjectNews } from './objects/object-news.ts';
import type { EtcdRestoreObject } from './objects/restore-object.ts';
import { type EtcdUserObject, secretOf } from './objects/user-object.ts';
import { reportOrphans } from './orphans.ts';
import type { AtPoint } from './port/port.ts';
import type { ReconcilerSettings } from './port/settings.ts';
import { ReconcilerMetrics } from './reconciler-metrics.ts';
import { Watches } from './watches.ts';

export interface ReconcilerOptions {
  readonly access: ApiAccess;
  readonly namespace: string;
  /** Label selector of the clusters that this reconciler manages, in kubectl syntax. */
  readonly selector?: string | undefined;
  /** Deployment of this reconciler. Undefined outside of Kubernetes. */
  readonly deployment?: string | undefined;
  /** Name of the Lease. */
  readonly lease: string;
  /** Unique name of this process. */
  readonly holder: string;
  readonly listen: ListenAddress;
  readonly settings: ReconcilerSettings;
  readonly log: Log;
  /** Called before and after each action. */
  readonly at?: AtPoint;
  readonly informerTimes?: Partial<InformerTimes>;
}

/** How long a pass may continue after the signal, in ms. */
const grace = 8_000;

/** Number of passes at the same time: over clusters, their certificates, their users, and backups. */
const places = 16;

/** Manages all clusters and backups of a namespace while it holds the Lease. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #client: ApiClient;
  readonly #paths: Paths;
  readonly #lease: Lease;
  readonly #leaseOf: (name: string) => Lease;
  /** Leases of other reconcilers that follow, or followed, one of the clusters. */
  readonly #others = new Map<string, Lease>();
  readonly #followed: FollowedBy;
  readonly #events: Events;
  readonly #troubles: Troubles;
  readonly #shutdown: Shutdown;
  readonly #watches: Watches;
  readonly #backups: BackupController;
  readonly #server: HttpListener;
  readonly #metrics = new ReconcilerMetrics();
  readonly #queue = new Queue(places);
  readonly #news = new ObjectNews();
  /** By the name of the cluster, while this reconciler leads. */
  readonly #runners = new Map<string, ClusterRunner>();
  #leading = false;
  #orphans: Key | undefined;

  constructor(options: ReconcilerOptions) {
    const { access, namespace, selector, deployment, settings, log, holder, listen } = options;
    const client = new ApiClient(access, settings.rpc);
    const paths = new Paths(namespace);
    const api = { client, paths, log };
    this.#options = options;
    this.#client = client;
    this.#paths = paths;
    const isGone = async (holder: string) => deployment !== undefined && isHolderPodGone(api, holder);
    this.#leaseOf = (name) => new Lease({ ...options, client, paths, name, isGone });
    const wasHeld = () => hasReported(api, options.lease);
    this.#lease = new Lease({ ...options, client, paths, name: options.lease, isGone, wasHeld });
    const { heartbeat } = settings;
    this.#followed = new FollowedBy({ lease: options.lease, heartbeat, isFree: (name) => this.#isFree(name) });
    this.#events = new Events(client, paths, holder, log);
    this.#troubles = new Troubles(api);
    this.#shutdown = new Shutdown({ ...api, deployment });
    this.#watches = new Watches({
      ...{ ...api, selector, times: options.informerTimes },
      onCluster: (cluster, gone) => this.#clusterChanged(cluster, gone),
      onBackup: (backup, gone) => this.#backupChanged(backup, gone),
      onUser: (user, gone) => this.#userChanged(user, gone),
      onOther: (resource, object, gone, cluster) => this.#otherChanged(resource, object, gone, cluster),
    });
    this.#backups = new BackupController({
      ...{ ...api, events: this.#events, troubles: this.#troubles, settings, selector, deployment },
      follow: this.#queue.follow,
      clusters: () => this.#watches.clusters,
      jobs: () => this.#watches.items('jobs'),
      followedBy: (name) => this.#followedBy(name),
      at: (point) => this.#mayAct(point),
    });
    this.#server = new HttpListener({ listen }, log, (request, response) => this.#answer(request, response));
  }

  /** Runs until the signal aborts. Throws if the Lease is lost. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const either = AbortSignal.any([signal, stop.signal]);
    await this.#server.listen();
    const watching = this.#watches.run(either);
    try {
      await this.#lease.acquire(either);
      this.#start();
      await this.#lease.hold(either);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await this.#stop();
      stop.abort();
      await watching;
      await this.#server.close();
      this.#client.close();
    }
  }

  #start(): void {
    const { lease, log, settings, selector } = this.#options;
    this.#leading = true;
    this.#metrics.leader = true;
    log.info({ lease }, 'acquired the Lease; starting');
    // Observes the Deployment once: only a Deployment that was seen can be found missing later.
    this.#shutdown.own().catch((error) => log.warn(messageOf(error)));
    for (const cluster of this.#watches.clusters) this.#updateRunner(cluster, false, true);
    this.#backups.lead();
    // A selector hides the clusters of other reconcilers.
    if (selector !== undefined) return;
    this.#orphans = this.#queue.follow({
      pass: async () => {
        await this.#reportOrphans();
        // A status that could not be written causes no event.
        return { again: settings.steady };
      },
      failed: (error) => log.warn(messageOf(error)),
      backoff: [settings.backoffMin, settings.steady],
    });
  }

  #clusterChanged(cluster: EtcdClusterObject, gone: boolean): void {
    this.#updateRunner(cluster, gone, this.#news.isNews(cluster, gone));
    this.#backups.clusterChanged(cluster.metadata.name);
    if (gone) this.#orphans?.now();
  }

  #backupChanged(backup: EtcdBackupObject, gone: boolean): void {
    this.#backups.changed(backup, gone);
    this.#runners.get(backup.spec.clusterName ?? '')?.wake('etcdbackups');
  }

  #userChanged(user: EtcdUserObject, gone: boolean): void {
    if (!this.#news.isNews(user, gone)) return;
    const names = new Set([user.spec.clusterName]);
    const secret = secretOf(user);
    // Another one may get the Secret now, or must not.
    for (const each of this.#watches.users ?? [])
      if (secret !== undefined && secretOf(each) === secret) names.add(each.spec.clusterName);
    for (const name of names) this.#runners.get(name)?.usersChanged();
    this.#orphans?.now();
  }

  #otherChanged(resource: string, object: KubeObject, gone: boolean, cluster: string | undefined): void {
    const runner = this.#runners.get(cluster ?? '');
    // Passes write the status of EtcdRestores themselves.
    if (resource !== 'etcdrestores' || this.#news.isNews(object, gone)) runner?.wake(resource);
    else runner?.noted(resource);
    if (resource === 'jobs') this.#backups.jobChanged(object, gone);
    if (resource === 'etcdrestores') this.#orphans?.now();
  }

  /** Starts, triggers or stops the runner of an EtcdCluster that exists, has changed, or is no longer ours. */
  #updateRunner(cluster: EtcdClusterObject, gone: boolean, isNews: boolean): void {
    if (!this.#leading) return;
    const { name, uid } = cluster.metadata;
    const running = this.#runners.get(name);
    if (running && !gone && running.uid === uid) {
      running.changed(cluster, isNews);
      return;
    }
    if (running) {
      this.#runners.delete(name);
      running.stop(grace).catch((error) => this.#options.log.warn(messageOf(error)));
      this.#metrics.forget(name);
    }
    if (!gone) this.#runners.set(name, this.#runner(cluster));
  }

  #runner(cluster: EtcdClusterObject): ClusterRunner {
    const { namespace, settings, log, holder, lease, deployment } = this.#options;
    const { name } = cluster.metadata;
    const [client, paths, events] = [this.#client, this.#paths, this.#events];
    const own = log.child({ cluster: name });
    const metrics = this.#metrics.begin(name);
    own.info('managing this cluster');
    return new ClusterRunner(cluster, {
      ...{ client, paths, namespace, name, settings, events, holder, shutdown: this.#shutdown },
      follow: this.#queue.follow,
      deployment,
      reconciler: { lease, version: agentVersion },
      users: () => this.#watches.users,
      clusters: () => this.#watches.clusters,
      isWatched: () => this.#watches.isCurrent,
      followedBy: (cluster) => this.#followed.ask(cluster),
      clientTls: new ClientTls(client, paths),
      troubles: this.#troubles,
      backups: (now) => clusterBackups(now, this.#backups.all),
      snapshotOf: (backup) => this.#backups.all.find(({ metadata }) => metadata.name === backup)?.status?.snapshotId,
      log: own,
      onStatus: (status) => metrics.passed(status),
      onFacts: (facts) => metrics.observed(facts),
      at: async (point) => {
        await this.#mayAct(point);
        metrics.acted(point);
      },
    });
  }

  /** Returns true if nobody holds this Lease. False if that cannot be read: the Role of an earlier release does not allow it. */
  async #isFree(name: string): Promise<boolean> {
    const other = this.#others.get(name) ?? this.#leaseOf(name);
    this.#others.set(name, other);
    return other.isFree().catch(() => false);
  }

  async #followedBy(name: string): Promise<string | undefined> {
    const api = { client: this.#client, paths: this.#paths };
    const cluster = await findByName<EtcdClusterObject>(api, 'etcdclusters', name);
    return cluster && this.#followed.ask(cluster);
  }

  /** Refuses to act without the Lease, for example after the process was suspended for longer than the Lease lasts. */
  async #mayAct(point: string): Promise<void> {
    if (!this.#lease.held) throw new Error('another reconciler may hold the Lease');
    await this.#options.at?.(point);
  }

  async #reportOrphans(): Promise<void> {
    const [client, paths, watches] = [this.#client, this.#paths, this.#watches];
    if (!watches.knowsClusters) return;
    const clusters = () => watches.clusters.map(({ metadata }) => metadata.name);
    const options = { client, paths, clusters, log: this.#options.log, at: (point: string) => this.#mayAct(point) };
    const restores = watches.items('etcdrestores') as unknown as EtcdRestoreObject[];
    await reportOrphans(options, restores, watches.users ?? []);
  }

  async #stop(): Promise<void> {
    const { log } = this.#options;
    this.#leading = false;
    this.#backups.stop();
    const runners = [...this.#runners.values()];
    this.#runners.clear();
    const time = this.#lease.held ? grace : 0;
    await Promise.all([...runners, this.#queue].map((each) => each.stop(time)));
    if (!this.#lease.held) return;
    const warn = (error: unknown) => log.warn(messageOf(error));
    this.#shutdown.begin();
    await Promise.all(runners.map((runner) => runner.releaseFinalizer().catch(warn)));
    await this.#lease.release().catch(warn);
    this.#metrics.leader = false;
  }

  /** Port of the HTTP server. */
  get port(): number {
    return this.#server.port;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://reconciler');
    switch (pathname) {
      case '/livez':
        return send(response, 200, 'ok\n');
      case '/readyz': {
        const problems = this.#watches.problems.map((line) => `${line}\n`);
        return problems.length > 0 ? send(response, 503, problems.join('')) : send(response, 200, 'ok\n');
      }
      case '/metrics': {
        const samples = this.#metrics.samples(this.#watches.states, backupMetrics(this.#backups.all));
        return sendMetrics(response, samples);
      }
      default:
        return send(response, 404, 'not found; available: /livez, /readyz and /metrics\n');
    }
  }
}
