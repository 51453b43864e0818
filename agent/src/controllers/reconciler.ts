import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiAccess } from '../kube/api-access.ts';
import { ApiClient } from '../kube/api-client.ts';
import { Troubles } from '../kube/event-reader.ts';
import { Events } from '../kube/events.ts';
import { Informer, type InformerOptions, type InformerTimes } from '../kube/informer.ts';
import { Lease } from '../kube/lease.ts';
import type { KubeObject } from '../kube/objects.ts';
import { Paths } from '../kube/paths.ts';
import { messageOf } from '../lib/errors.ts';
import { HttpListener, send } from '../lib/http/http-listener.ts';
import type { ListenAddress } from '../lib/http/listen-address.ts';
import type { Log } from '../lib/log.ts';
import { WorkQueue } from '../lib/queue.ts';
import { backupMetrics } from './backup/backup-metrics.ts';
import type { EtcdBackupObject } from './backup/backup-object.ts';
import { Backups } from './backup/backups.ts';
import { clusterBackups } from './backup/cluster-backups.ts';
import { ClientTls } from './client-tls.ts';
import { ClusterRunner } from './cluster/cluster-runner.ts';
import type { EtcdClusterObject } from './cluster/kubernetes/cluster-object.ts';
import type { EtcdRestoreObject } from './cluster/kubernetes/restore-object.ts';
import type { AtPoint } from './cluster/reconcile.ts';
import type { Settings } from './cluster/settings.ts';
import { type FollowedKind, followedKinds } from './cluster-changes.ts';
import { OrphanRestores } from './orphan-restores.ts';
import { ReconcilerMetrics } from './reconciler-metrics.ts';
import { Going } from './shutdown.ts';

export interface ReconcilerOptions {
  readonly access: ApiAccess;
  readonly namespace: string;
  /** A label selector over EtcdClusters, as kubectl takes it. */
  readonly selector?: string | undefined;
  /** The Deployment that this is of. */
  readonly deployment?: string | undefined;
  readonly lease: string;
  /** Of this process, and of no other. */
  readonly holder: string;
  readonly listen: ListenAddress;
  readonly settings: Settings;
  readonly log: Log;
  readonly at?: AtPoint;
  readonly informerTimes?: Partial<InformerTimes>;
}

/** How long a pass may go on after the signal, ms. */
const grace = 8_000;

type Which<T> = Pick<FollowedKind, 'labelSelector'> & Pick<InformerOptions<T>, 'keep' | 'metadataOnly'>;

/** How many clusters are looked at together, and for how many ms one of them keeps the next one waiting at most. */
const places = 8;
const slow = 1_000;

interface Followed {
  readonly resource: string;
  readonly informer: Informer<KubeObject>;
}

/** Looks after all clusters and backups of a namespace, as long as it holds the Lease. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #client: ApiClient;
  readonly #paths: Paths;
  readonly #lease: Lease;
  readonly #events: Events;
  readonly #starts: Troubles;
  readonly #metrics = new ReconcilerMetrics();
  readonly #clusters: Informer<EtcdClusterObject>;
  readonly #backups: Backups;
  readonly #orphans: OrphanRestores;
  readonly #followed: readonly Followed[];
  readonly #going: Going;
  readonly #server: HttpListener;
  /** By the name of the cluster, while it leads. */
  readonly #runners = new Map<string, ClusterRunner>();
  readonly #troubles = new Map<string, string>();
  readonly #queue = new WorkQueue(places, slow);
  #leading = false;

  constructor(options: ReconcilerOptions) {
    const { access, namespace, selector, settings, log, holder, listen } = options;
    this.#options = options;
    this.#client = new ApiClient(access, settings.rpc);
    this.#paths = new Paths(namespace);
    this.#lease = new Lease({ ...options, client: this.#client, paths: this.#paths, name: options.lease });
    this.#events = new Events(this.#client, this.#paths, holder, log);
    this.#starts = new Troubles({ client: this.#client, paths: this.#paths, log });
    this.#going = new Going({ client: this.#client, paths: this.#paths, deployment: options.deployment, log });
    const mine: Which<EtcdClusterObject> = {
      ...(selector !== undefined && { labelSelector: selector }),
      // What its status says is read anew.
      keep: ({ metadata, spec }) => ({ metadata, spec }),
    };
    this.#clusters = this.#informer<EtcdClusterObject>('etcdclusters', mine, (cluster, gone) => {
      this.#changed(cluster, gone);
      this.#backups.clusterChanged(cluster.metadata.name);
      if (gone) this.#lookForOrphans();
    });
    const backups = this.#informer<EtcdBackupObject>('etcdbackups', {}, (backup, gone) => {
      this.#backups.changed(backup, gone);
      this.#runners.get(backup.spec.clusterName ?? '')?.wake('etcdbackups');
    });
    this.#followed = [
      { resource: 'etcdclusters', informer: this.#clusters as unknown as Informer<KubeObject> },
      { resource: 'etcdbackups', informer: backups as unknown as Informer<KubeObject> },
      ...followedKinds.map(({ resource, clusterOf, ...which }) => ({
        resource,
        informer: this.#informer(resource, { ...which, metadataOnly: which.keep !== undefined }, (object, gone) => {
          this.#runners.get(clusterOf(object) ?? '')?.wake(resource);
          if (resource === 'jobs') this.#backups.jobChanged(object, gone);
          if (resource === 'etcdrestores') this.#lookForOrphans();
        }),
      })),
    ];
    const jobs = this.#followed.find(({ resource }) => resource === 'jobs')!.informer;
    this.#backups = new Backups({
      ...{ client: this.#client, paths: this.#paths, events: this.#events, settings, selector, log },
      deployment: options.deployment,
      troubles: this.#starts,
      clusters: () => this.#clusters.items,
      jobs: () => jobs.items,
      at: (point) => this.#mayAct(point),
    });
    const clusters = () => this.#clusters.items.map(({ metadata }) => metadata.name);
    this.#orphans = new OrphanRestores({ client: this.#client, paths: this.#paths, log, clusters });
    this.#server = new HttpListener({ listen }, log, (request, response) => this.#answer(request, response));
  }

  /** The one that it listens on. */
  get port(): number {
    return this.#server.port;
  }

  /** Until the signal; throws when the Lease is lost. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const either = AbortSignal.any([signal, stop.signal]);
    await this.#server.listen();
    const following = this.#followed.map(({ informer }) => informer.run(either));
    try {
      await this.#lease.acquire(either);
      this.#lead();
      await this.#lease.hold(either);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await this.#end();
      stop.abort();
      await Promise.all(following);
      await this.#server.close();
      this.#client.close();
    }
  }

  #lead(): void {
    const { lease, log } = this.#options;
    this.#leading = true;
    this.#metrics.leader = true;
    log.info({ lease }, 'this reconciler holds the Lease and begins');
    // Only of what was there it can be known that it goes.
    this.#going.own().catch((error) => log.warn(messageOf(error)));
    for (const cluster of this.#clusters.items) this.#changed(cluster, false);
    this.#backups.lead();
    this.#lookForOrphans();
  }

  async #end(): Promise<void> {
    const { log } = this.#options;
    this.#leading = false;
    const runners = [...this.#runners.values()];
    this.#runners.clear();
    const time = this.#lease.held ? grace : 0;
    await Promise.all([...runners, this.#backups].map((each) => each.stop(time)));
    if (!this.#lease.held) return;
    const complain = (error: unknown) => log.warn(messageOf(error));
    this.#going.ends();
    await Promise.all(runners.map((runner) => runner.releaseFinalizer().catch(complain)));
    await this.#lease.release().catch(complain);
    this.#metrics.leader = false;
  }

  /** An EtcdCluster is there, has changed, or is no longer ours. */
  #changed(cluster: EtcdClusterObject, gone: boolean): void {
    if (!this.#leading) return;
    const { name, uid } = cluster.metadata;
    const running = this.#runners.get(name);
    if (running && !gone && running.uid === uid) {
      running.wake('etcdclusters');
      return;
    }
    if (running) {
      this.#runners.delete(name);
      running.stop(grace).catch((error) => this.#options.log.warn(messageOf(error)));
      this.#metrics.forget(name);
    }
    if (!gone) this.#runners.set(name, this.#runner(cluster));
  }

  /** With a selector it does not know which clusters there are besides its own. */
  #lookForOrphans(): void {
    if (!this.#leading || this.#options.selector !== undefined || this.#clusters.trouble !== undefined) return;
    const restores = this.#followed.find(({ resource }) => resource === 'etcdrestores')!.informer;
    this.#orphans.look(restores.items as unknown as EtcdRestoreObject[]);
  }

  #runner(cluster: EtcdClusterObject): ClusterRunner {
    const { namespace, settings, log, holder } = this.#options;
    const { name } = cluster.metadata;
    const [client, paths, events] = [this.#client, this.#paths, this.#events];
    const own = log.child({ cluster: name });
    own.info('looked after from now on');
    return new ClusterRunner(cluster, {
      ...{ client, paths, namespace, name, settings, events, holder, going: this.#going, turn: this.#queue.run },
      isWatched: () => this.#followed.every(({ informer }) => informer.trouble === undefined),
      clientTls: new ClientTls(client, paths),
      troubles: this.#starts,
      backups: (now) => clusterBackups(now, this.#backups.all),
      log: own,
      seen: (status, how) => {
        if (how === 'read') this.#metrics.passed(name);
        this.#metrics.saw(name, status);
      },
      at: async (point) => {
        await this.#mayAct(point);
        this.#metrics.acted(name, point);
      },
    });
  }

  /** A process that was stopped for longer than the Lease lasts must not act when it goes on. */
  async #mayAct(point: string): Promise<void> {
    if (!this.#lease.held) throw new Error('the Lease may be held by another one');
    await this.#options.at?.(point);
  }

  #informer<T extends KubeObject>(
    resource: FollowedKind['resource'],
    { labelSelector, metadataOnly = false, keep }: Which<T>,
    onChange: (object: T, gone: boolean) => void,
  ): Informer<T> {
    return new Informer<T>({
      client: this.#client,
      path: this.#paths.of(resource),
      ...(labelSelector !== undefined && { query: { labelSelector } }),
      metadataOnly,
      ...(keep && { keep }),
      onChange,
      onTrouble: (trouble) => this.#trouble(resource, trouble),
      ...(this.#options.informerTimes && { times: this.#options.informerTimes }),
    });
  }

  /** The log tells each reason once, not once for each kind. */
  #trouble(resource: string, trouble: string | undefined): void {
    const before = new Set(this.#troubles.values());
    if (trouble === undefined) this.#troubles.delete(resource);
    else this.#troubles.set(resource, trouble.includes('could not find the requested resource') ? noCrds : trouble);
    const now = this.#troubles.get(resource);
    if (now !== undefined && !before.has(now)) this.#options.log.error(now);
    if (before.size > 0 && this.#troubles.size === 0) this.#options.log.info('all that is needed can be listed again');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://reconciler');
    switch (pathname) {
      case '/livez':
        return send(response, 200, 'ok\n');
      case '/readyz': {
        const waiting = this.#followed.filter(({ informer }) => informer.trouble !== undefined);
        if (waiting.length === 0) return send(response, 200, 'ok\n');
        const why = waiting.map(
          ({ resource, informer }) => `${resource}: ${this.#troubles.get(resource) ?? informer.trouble}\n`,
        );
        return send(response, 503, why.join(''));
      }
      case '/metrics': {
        const states = this.#followed.map(({ resource, informer }) => ({
          resource,
          synced: informer.trouble === undefined,
          lists: informer.lists,
        }));
        return send(
          response,
          200,
          this.#metrics.text(states, backupMetrics(this.#backups.all)),
          'text/plain; version=0.0.4; charset=utf-8',
        );
      }
      default:
        return send(response, 404, 'there is /livez, /readyz and /metrics\n');
    }
  }
}

const noCrds =
  'the custom resources of cdk8s-etcd.dev are not there yet: apply the CRDs first (kubectl apply --server-side -f crds.k8s.yaml); tried again until then';
