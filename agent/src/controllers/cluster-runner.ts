import { isStatus } from '../kube/api-error.ts';
import type { EventSubject } from '../kube/events.ts';
import { groupVersion } from '../kube/paths.ts';
import type { Log } from '../lib/log.ts';
import type { Key, Queue, Work } from '../lib/queue.ts';
import type { ClusterStatus } from '../protocol/cluster-status.ts';
import { followedByAnother } from '../protocol/reasons.ts';
import { Certificates } from './certificates/certificates.ts';
import { memberReports } from './certificates/members.ts';
import { TrustBundle } from './certificates/trust-bundle.ts';
import { runCluster } from './cluster/loop.ts';
import type { PassFacts } from './cluster/pass-facts.ts';
import { reporterOf } from './kubernetes/followed-by.ts';
import { KubernetesPort, type PortOptions } from './kubernetes/kubernetes-port.ts';
import type { EtcdClusterObject } from './objects/cluster-object.ts';
import type { EtcdUserObject } from './objects/user-object.ts';
import type { AtPoint } from './port/port.ts';
import { Users } from './users/users.ts';

export type RunnerOptions = Omit<PortOptions, 'certificates' | 'trust' | 'authentication' | 'log' | 'followedBy'> & {
  /** Returns the Lease of the other reconciler that follows the cluster, if there is one. */
  readonly followedBy: (cluster: EtcdClusterObject) => Promise<string | undefined>;
  /** The EtcdUsers of all clusters; undefined while that may be outdated. */
  readonly users: () => readonly EtcdUserObject[] | undefined;
  readonly clusters: () => readonly EtcdClusterObject[];
  readonly holder: string;
  readonly reconciler: NonNullable<ClusterStatus['reconciler']>;
  readonly at: AtPoint;
  readonly onFacts: (facts: PassFacts) => void;
  readonly onStatus: (status: ClusterStatus) => void;
  readonly follow: Queue['follow'];
  readonly log: Log;
};

/** Reconciles one cluster apart from all others, so that a slow cluster delays no other. */
export class ClusterRunner {
  /** UID of the EtcdCluster. */
  readonly uid: string;
  readonly #options: RunnerOptions;
  /** The Lease of another reconciler that follows the cluster: then nothing of it is changed here. A pass decides that itself. */
  #another: string | undefined;
  readonly #port: KubernetesPort;
  readonly #certificates: Certificates;
  readonly #trust: TrustBundle;
  readonly #users: Users;
  readonly #key: Key;
  readonly #keys: Key[] = [];

  constructor(cluster: EtcdClusterObject, given: RunnerOptions) {
    this.uid = cluster.metadata.uid;
    this.#another = reporterOf(cluster, given.reconciler.lease);
    const at: AtPoint = async (point) => {
      if (this.#another !== undefined) throw new Error(followedByAnother(this.#another));
      await given.at(point);
    };
    const follow = (work: Work) => {
      const key = given.follow(work);
      this.#keys.push(key);
      return key;
    };
    const onChange = () => this.#key.now();
    const options = { ...given, at, follow, onChange };
    this.#options = given;
    this.#certificates = new Certificates({
      ...options,
      emit: (event) => options.events.emit(subjectOf(cluster, options.namespace), event),
      onUserChange: () => this.#users.changed(),
    });
    this.#trust = new TrustBundle(options);
    this.#port = new KubernetesPort({
      ...options,
      certificates: () => this.#certificates.report(),
      trust: (tls) => this.#trust.report(tls),
      authentication: () => this.#users.report(),
      followedBy: async (cluster) => {
        this.#another = await given.followedBy(cluster);
        return this.#another;
      },
    });
    this.#users = new Users(cluster, {
      ...options,
      ...{ observed: options.users, etcd: this.#port.root, certificates: this.#certificates },
      emit: (event) => options.events.emit(subjectOf(cluster, options.namespace), event),
    });
    this.#certificates.follow(cluster.spec, cluster.status);
    this.#trust.follow(cluster.spec);
    this.#key = runCluster({
      ...{ ...options, at: given.at, port: this.#port },
      onObserved: (observed, facts) => {
        options.onFacts(facts);
        this.#certificates.see(memberReports(observed));
        this.#users.see(observed);
      },
    });
    this.#certificates.run();
    this.#trust.run();
    this.#users.run();
  }

  /** The EtcdCluster has changed, or may have. `isNews`: in more than its status. */
  changed(cluster: EtcdClusterObject, isNews: boolean): void {
    this.#certificates.follow(cluster.spec, cluster.status);
    this.#trust.follow(cluster.spec);
    this.#users.follow(cluster);
    if (isNews) this.wake('etcdclusters');
    else this.noted('etcdclusters');
  }

  /** An EtcdUser of the cluster has changed. */
  usersChanged(): void {
    this.#users.changed();
  }

  /** Triggers a pass because one of the cluster's resources changed. */
  wake(resource: string): void {
    this.noted(resource);
    this.#key.now();
  }

  /** The next pass reads this resource again. */
  noted(resource: string): void {
    this.#port.changed(resource);
  }

  /** Begins no further pass, of certificates or users either. Resolves when the present ones have ended, or after `grace` ms. */
  async stop(grace: number): Promise<void> {
    await Promise.all(this.#keys.map((key) => key.stop(grace)));
    this.#port.close();
  }

  /** Removes the finalizer of a cluster that is being deleted, because no reconciler is left to do its work. */
  async releaseFinalizer(tries = 3): Promise<void> {
    const { clusters } = this.#port;
    this.#port.lookAgain();
    const cluster = await clusters.cluster();
    if (this.#another !== undefined) return;
    if (!cluster?.deleting || !cluster.finalizer || !cluster.reconcilerGoing) return;
    await clusters.releaseFinalizer(cluster.rv).catch((error: unknown) => {
      if (tries > 1 && isStatus(error, 409)) return this.releaseFinalizer(tries - 1);
      if (!isStatus(error, 403)) throw error;
      const { name, namespace } = this.#options;
      throw new Error(
        `EtcdCluster ${name} keeps its finalizer because the permission to remove it is gone; remove it with kubectl patch etcdcluster ${name} -n ${namespace} --type=merge -p '{"metadata":{"finalizers":null}}'`,
      );
    });
  }
}

const subjectOf = ({ metadata: { name, uid } }: EtcdClusterObject, namespace: string): EventSubject => ({
  ...{ apiVersion: groupVersion, kind: 'EtcdCluster', name, namespace, uid },
});
