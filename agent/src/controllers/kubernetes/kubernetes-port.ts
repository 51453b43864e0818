import type { OwnerReference } from '../../kube/objects.ts';
import { groupVersion } from '../../kube/paths.ts';
import { EtcdPort, type RootPort } from '../etcd/etcd-port.ts';
import type { Membership, Port } from '../port/port.ts';
import { ClusterContext, type ContextOptions } from './cluster-context.ts';
import { type ClustersOptions, KubernetesClusters } from './kubernetes-clusters.ts';
import { KubernetesJobs } from './kubernetes-jobs.ts';
import { KubernetesWorkload } from './kubernetes-workload.ts';
import { RecordConfigMap } from './record-config-map.ts';
import { ResponseCache } from './response-cache.ts';
import { lackOf, RestoreProgress, troubleOf } from './restore-progress.ts';

export type PortOptions = Omit<ContextOptions, 'cache'> &
  Omit<ClustersOptions, 'context' | 'progress'> & {
    /** Returns true while watches report every change of the resources read here, through `changed`. */
    readonly isWatched: () => boolean;
  };

/**
 * One cluster on Kubernetes. Every action is decided on what the API server returns at that moment, because the last state from a
 * watch may be outdated.
 */
export class KubernetesPort implements Port {
  readonly records: RecordConfigMap;
  readonly clusters: KubernetesClusters;
  readonly workload: KubernetesWorkload;
  readonly jobs: KubernetesJobs;
  readonly membership: Membership;
  readonly maintenance: EtcdPort;
  readonly #cache: ResponseCache;
  readonly #context: ClusterContext;
  readonly #root: EtcdPort;

  constructor(options: PortOptions) {
    const { client, paths, name: cluster, settings, shutdown, backups, certificates, trust, authentication } = options;
    const { followedBy, snapshotOf } = options;
    this.#cache = new ResponseCache(options.isWatched);
    const context = new ClusterContext({ ...options, cache: this.#cache });
    this.#context = context;
    const owner = () => ownerOf(context);
    this.records = new RecordConfigMap({ client, paths, cluster, owner, restores: () => this.clusters.naming });
    const progress = new RestoreProgress(context, () => ({
      doc: this.records.last,
      served: this.jobs.served,
      jobs: this.jobs.states,
      trouble: troubleOf(context.cluster?.status),
      lacks: lackOf(context.cluster?.status),
    }));
    this.clusters = new KubernetesClusters({
      ...{ context, shutdown, progress, snapshotOf },
      backups,
      certificates,
      trust,
      authentication,
      followedBy,
    });
    this.workload = new KubernetesWorkload(context);
    this.jobs = new KubernetesJobs(context, () => this.workload.backupPorts());
    const endpoints = () => this.workload.clientUrls();
    this.maintenance = new EtcdPort({ endpoints, tls: () => context.tls(), settings });
    this.#root = new EtcdPort({ endpoints, tls: () => context.rootTls(), settings });
    this.membership = new MembershipWithEvents(this.maintenance, context);
  }

  /** etcd as its user root, with connections of its own. */
  get root(): RootPort {
    return {
      certificate: async () => (await this.#context.rootTls()).cert!,
      withLeader: (clusterId, work) => this.#root.withLeader(clusterId, work),
      rest: () => this.#root.rest(),
    };
  }

  /** A watch reported a change of this resource. */
  changed(resource: string): void {
    this.#cache.changed(resource);
  }

  lookAgain(): boolean {
    return this.#cache.again();
  }

  rest(): void {
    this.records.rest();
    this.maintenance.rest();
    this.#context.rest();
  }

  close(): void {
    this.maintenance.close();
    this.#root.close();
  }
}

/** Without persistent volumes the record is deleted with the cluster, because it only describes running pods. */
function ownerOf({ cluster }: ClusterContext): OwnerReference | undefined {
  if (!cluster?.spec.storage?.ephemeral) return undefined;
  const { name, uid } = cluster.metadata;
  return { apiVersion: groupVersion, kind: 'EtcdCluster', name, uid };
}

/** Emits an Event for each change of the membership. */
class MembershipWithEvents implements Membership {
  readonly #etcd: Membership;
  readonly #context: Pick<ClusterContext, 'emitEvent'>;

  constructor(etcd: Membership, context: Pick<ClusterContext, 'emitEvent'>) {
    this.#etcd = etcd;
    this.#context = context;
  }

  members(): ReturnType<Membership['members']> {
    return this.#etcd.members();
  }

  async addLearner(peerUrls: readonly string[]): Promise<void> {
    await this.#etcd.addLearner(peerUrls);
    const [pod] = new URL(peerUrls[0]!).hostname.split('.');
    this.#context.emitEvent('Normal', 'LearnerAdded', `Added ${pod} as a learner`);
  }

  async updatePeerUrls(memberId: string, peerUrls: readonly string[]): Promise<void> {
    await this.#etcd.updatePeerUrls(memberId, peerUrls);
    this.#context.emitEvent(
      'Normal',
      'PeerUrlsUpdated',
      `Set the peer URLs of member ${memberId} to ${peerUrls.join(', ')}`,
    );
  }

  async remove(memberId: string): Promise<void> {
    await this.#etcd.remove(memberId);
    this.#context.emitEvent('Normal', 'MemberRemoved', `Removed member ${memberId}`);
  }

  async promote(memberId: string): Promise<void> {
    await this.#etcd.promote(memberId);
    this.#context.emitEvent('Normal', 'MemberPromoted', `Promoted member ${memberId} to voter`);
  }

  async moveLeader(leader: string, to: string): Promise<void> {
    await this.#etcd.moveLeader(leader, to);
    this.#context.emitEvent('Normal', 'LeaderMoved', `Moved the leadership from member ${leader} to member ${to}`);
  }
}
