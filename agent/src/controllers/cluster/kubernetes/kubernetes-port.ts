import { ports } from '../../../../../src/etcd/cluster-ports.ts';
import type { OwnerReference } from '../../../kube/objects.ts';
import { groupVersion } from '../../../kube/paths.ts';
import { EtcdPort } from '../etcd/etcd-port.ts';
import { KubernetesJobs } from '../jobs/kubernetes-jobs.ts';
import type { Port } from '../port.ts';
import { AnswerCache } from './answer-cache.ts';
import { ClusterContext, type ContextOptions } from './cluster-context.ts';
import { type ClustersOptions, KubernetesClusters } from './kubernetes-clusters.ts';
import { KubernetesWorkload } from './kubernetes-workload.ts';
import { RecordConfigMap } from './record-config-map.ts';
import { ReportedMembership } from './reported-membership.ts';
import { RestoreProgress, troubleOf } from './restore-progress.ts';

export type PortOptions = Omit<ContextOptions, 'look'> &
  Omit<ClustersOptions, 'context' | 'progress'> & {
    /** Every change of what is read here is told by a watch, as `changed`. */
    readonly isWatched: () => boolean;
  };

/**
 * One cluster on Kubernetes. Whatever is done is decided on what the API server has at this moment: what a watch brought
 * last might be long gone.
 */
export class KubernetesPort implements Port {
  readonly records: RecordConfigMap;
  readonly clusters: KubernetesClusters;
  readonly workload: KubernetesWorkload;
  readonly jobs: KubernetesJobs;
  readonly membership: ReportedMembership;
  readonly maintenance: EtcdPort;
  readonly #look: AnswerCache;
  readonly #context: ClusterContext;

  constructor(options: PortOptions) {
    const { client, paths, name: cluster, settings, going, seen, backups } = options;
    this.#look = new AnswerCache(options.isWatched);
    const context = new ClusterContext({ ...options, look: this.#look });
    this.#context = context;
    this.records = new RecordConfigMap({ client, paths, cluster, owner: () => ownerOf(context) });
    const progress = new RestoreProgress(context, () => ({
      doc: this.records.last,
      served: this.jobs.served,
      jobs: this.jobs.states,
      trouble: troubleOf(context.cluster?.status),
    }));
    this.clusters = new KubernetesClusters({ context, going, seen, progress, ...(backups && { backups }) });
    this.workload = new KubernetesWorkload(context);
    const addresses = () => this.workload.addresses();
    this.jobs = new KubernetesJobs(context, addresses);
    this.maintenance = new EtcdPort({
      endpoints: async () => [...(await addresses()).values()].map((address) => context.urlOf(address, ports.client)),
      tls: () => context.tls(),
      settings,
    });
    this.membership = new ReportedMembership(this.maintenance, context);
  }

  /** A watch told of a change of what is named. */
  changed(resource: string): void {
    this.#look.changed(resource);
  }

  lookAgain(): boolean {
    return this.#look.again();
  }

  rest(): void {
    this.records.rest();
    this.maintenance.rest();
    this.#context.rest();
  }

  close(): void {
    this.maintenance.close();
  }
}

/** Without volumes the record tells of living pods alone. */
function ownerOf({ cluster }: ClusterContext): OwnerReference | undefined {
  if (!cluster?.spec.storage?.ephemeral) return undefined;
  const { name, uid } = cluster.metadata;
  return { apiVersion: groupVersion, kind: 'EtcdCluster', name, uid };
}
