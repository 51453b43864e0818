import type { ApiClient } from '../kube/api-client.ts';
import { Informer, type InformerOptions, type InformerTimes } from '../kube/informer.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { Paths } from '../kube/paths.ts';
import type { Log } from '../lib/log.ts';
import type { EtcdBackupObject } from './objects/backup-object.ts';
import { type FollowedKind, followedKinds } from './objects/cluster-changes.ts';
import { type EtcdClusterObject, readCluster } from './objects/cluster-object.ts';
import type { EtcdUserObject } from './objects/user-object.ts';
import type { InformerState } from './reconciler-metrics.ts';

export interface WatchesOptions {
  readonly client: ApiClient;
  readonly paths: Paths;
  /** Label selector of the EtcdClusters to watch, in kubectl syntax. */
  readonly selector?: string | undefined;
  readonly log: Pick<Log, 'info' | 'error'>;
  readonly times?: Partial<InformerTimes> | undefined;
  readonly onCluster: (cluster: EtcdClusterObject, gone: boolean) => void;
  readonly onBackup: (backup: EtcdBackupObject, gone: boolean) => void;
  readonly onUser: (user: EtcdUserObject, gone: boolean) => void;
  /** `cluster`: name of the EtcdCluster to which the object belongs. */
  readonly onOther: (
    resource: FollowedKind['resource'],
    object: KubeObject,
    gone: boolean,
    cluster: string | undefined,
  ) => void;
}

interface Watched {
  readonly resource: FollowedKind['resource'];
  readonly informer: Informer<KubeObject>;
}

type Query<T> = Pick<FollowedKind, 'labelSelector'> & Pick<InformerOptions<T>, 'keep' | 'metadataOnly'>;

/** The informers of the reconciler: EtcdClusters, EtcdBackups, EtcdUsers and all objects that belong to clusters. */
export class Watches {
  readonly #options: WatchesOptions;
  readonly #clusters: Informer<EtcdClusterObject>;
  readonly #users: Informer<EtcdUserObject>;
  readonly #all: readonly Watched[];
  readonly #problems = new Map<string, string>();

  constructor(options: WatchesOptions) {
    this.#options = options;
    const { selector, onCluster, onBackup, onUser, onOther } = options;
    const clusterQuery: Query<EtcdClusterObject> = {
      labelSelector: selector,
      // Of the status, only what a reconciler knows of authorities whose Secrets were emptied: every pass reads the rest again.
      keep: ({ metadata, spec, status: { certificates } = {} }) => ({
        ...readCluster({ metadata, spec }),
        ...(certificates && { status: { certificates } }),
      }),
    };
    this.#clusters = this.#informer('etcdclusters', clusterQuery, onCluster);
    const backups = this.#informer<EtcdBackupObject>('etcdbackups', {}, onBackup);
    this.#users = this.#informer<EtcdUserObject>('etcdusers', {}, onUser);
    this.#all = [
      { resource: 'etcdclusters', informer: this.#clusters as unknown as Informer<KubeObject> },
      { resource: 'etcdbackups', informer: backups as unknown as Informer<KubeObject> },
      { resource: 'etcdusers', informer: this.#users as unknown as Informer<KubeObject> },
      ...followedKinds.map(({ resource, clusterOf, ...query }) => ({
        resource,
        informer: this.#informer(
          resource,
          { ...query, metadataOnly: query.keep !== undefined },
          (object: KubeObject, gone) => onOther(resource, object, gone, clusterOf(object)),
        ),
      })),
    ];
  }

  /** Runs all informers until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#all.map(({ informer }) => informer.run(signal)));
  }

  get clusters(): readonly EtcdClusterObject[] {
    return this.#clusters.items;
  }

  /** False while the list of EtcdClusters may be outdated. */
  get knowsClusters(): boolean {
    return this.#clusters.trouble === undefined;
  }

  /** Undefined while the list may be outdated. */
  get users(): readonly EtcdUserObject[] | undefined {
    return this.#users.trouble === undefined ? this.#users.items : undefined;
  }

  /** True while every watch of what a pass over a cluster reads reports every change. */
  get isCurrent(): boolean {
    return this.#all.every(({ resource, informer }) => resource === 'etcdusers' || informer.trouble === undefined);
  }

  items(resource: FollowedKind['resource']): readonly KubeObject[] {
    return this.#all.find((each) => each.resource === resource)!.informer.items;
  }

  /** Kinds that cannot be listed or watched now, one line each. */
  get problems(): string[] {
    return this.#all.flatMap(({ resource, informer: { trouble } }) =>
      trouble === undefined ? [] : [`${resource}: ${this.#problems.get(resource) ?? trouble}`],
    );
  }

  get states(): InformerState[] {
    return this.#all.map(({ resource, informer }) => ({
      resource,
      synced: informer.trouble === undefined,
      lists: informer.lists,
    }));
  }

  #informer<T extends KubeObject>(
    resource: FollowedKind['resource'],
    { labelSelector, metadataOnly = false, keep }: Query<T>,
    onChange: (object: T, gone: boolean) => void,
  ): Informer<T> {
    const { client, paths, times } = this.#options;
    return new Informer<T>({
      client,
      path: paths.of(resource),
      query: { labelSelector },
      metadataOnly,
      keep,
      onChange,
      onTrouble: (problem) => this.#report(resource, problem),
      times,
    });
  }

  /** Logs each problem once, not once for each kind. */
  #report(resource: string, problem: string | undefined): void {
    const { log } = this.#options;
    const before = new Set(this.#problems.values());
    if (problem === undefined) this.#problems.delete(resource);
    else this.#problems.set(resource, problem.includes('could not find the requested resource') ? noCrds : problem);
    const now = this.#problems.get(resource);
    if (now !== undefined && !before.has(now)) log.error(now);
    if (before.size > 0 && this.#problems.size === 0) log.info('all resources can be listed again');
  }
}

const noCrds =
  'the custom resources of cdk8s-etcd.dev do not exist yet: apply the CRDs first (kubectl apply --server-side -f crds.k8s.yaml); retrying until then';
