import { Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { isAttached } from '../lib/construct-tree';
import type { Labels } from '../lib/manifest';
import { EtcdReconciler } from '../reconciler/etcd-reconciler';
import type { EtcdReconcilerProps } from '../reconciler/etcd-reconciler-props';
import type { IEtcdReconciler } from '../reconciler/i-etcd-reconciler';
import {
  addExternal,
  createReconcilerIfNone,
  externalTo,
  isImplicit,
  type RegisteredReconciler,
  reconcilersFor,
  servedBy,
  servedNamesake,
} from '../reconciler/reconciler-registry';
import { nameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';

/**
 * The reconciler of one cluster: the one in its props, else the one of its namespace, which is created if there is
 * none. The result is final only when the app is complete: call `get` only from a Lazy or from validations.
 */
export class ClusterReconciler {
  constructor(
    private readonly cluster: Construct,
    private readonly clusterName: string,
    private readonly given?: IEtcdReconciler,
    /** Properties of the reconciler that may be created. */
    props: EtcdReconcilerProps = {},
  ) {
    if (!given) createReconcilerIfNone(cluster, () => new EtcdReconciler(cluster, 'Reconciler', props));
    else if (!isLocal(given)) addExternal(cluster, given);
  }

  get(): IEtcdReconciler {
    return this.given ?? reconcilersFor(this.cluster)[0] ?? EtcdReconciler.external();
  }

  /**
   * Problems with the choice of the reconciler.
   *
   * @param labels the labels of the EtcdCluster resource, by which a reconciler may select its clusters
   */
  problems(own: Labels): string[] {
    const labels = { ...Chart.of(this.cluster).labels, ...own };
    const found = this.given ? [this.given] : reconcilersFor(this.cluster);
    const [reconciler] = found;
    if (!reconciler) {
      return [
        "reconciler: the reconciler of this namespace was removed together with the cluster that created it; add new EtcdReconciler(chart, 'reconciler')",
      ];
    }
    if (found.length > 1) {
      return [
        `reconciler: ${names(reconcilersFor(this.cluster))} all manage ${this.place()}; give the one for this cluster`,
      ];
    }
    if (!isLocal(reconciler)) {
      return problemsOf(
        nameProblem('reconciler: serviceAccountName', reconciler.serviceAccountName),
        this.secondProblem(reconciler, labels),
      );
    }
    return [...this.placeProblems(reconciler), ...this.selectorProblems(reconciler, labels)];
  }

  private placeProblems(reconciler: RegisteredReconciler): string[] {
    const { reconcilerName } = reconciler;
    if (!isAttached(reconciler)) {
      return [`reconciler: '${reconcilerName}' was removed from the app; add another one, or leave it out`];
    }
    if (Chart.of(reconciler).namespace !== Chart.of(this.cluster).namespace) {
      return [
        `reconciler: '${reconcilerName}' manages only ${placeOf(reconciler)}, but this cluster is in ${this.place()}; add one there`,
      ];
    }
    const other = externalTo(this.cluster, reconciler);
    if (other) {
      return [
        `reconciler: '${reconcilerName}' is external for ${other.node.path}, but belongs to this app for this cluster; give both the same reconciler`,
      ];
    }
    const namesakes = this.namesakeProblems(reconciler);
    if (namesakes.length > 0) return namesakes;
    return [...this.chartProblems(reconciler), ...this.loadProblems(reconciler)];
  }

  /** A reconciler without a selector manages every cluster of its namespace, whatever the cluster names. */
  private secondProblem(reconciler: IEtcdReconciler, labels: Labels): string | undefined {
    const { reconcilerName } = reconciler;
    const second = this.othersFor(reconciler, labels).find((other) => other.reconcilerName !== reconcilerName);
    if (!second) return undefined;
    return `reconciler: '${reconcilerName}' is of another app, but '${second.reconcilerName}' of this app manages this cluster too; leave it out, or give '${second.reconcilerName}' a selector`;
  }

  /** The first cluster that is too much reports it. */
  private loadProblems(reconciler: RegisteredReconciler): string[] {
    const most = reconciler._mostClusters?.() ?? Number.POSITIVE_INFINITY;
    if (servedBy(this.cluster, reconciler)[most] !== this.cluster) return [];
    return [
      `reconciler: the limit of CPU of the reconciler '${reconciler.reconcilerName}' suffices for ${most} clusters (1m each), and it has more; raise its cpuLimit (in YAML, spec.resources.limits.cpu), or leave it out`,
    ];
  }

  /** Charts are applied and deleted one by one, so one that belongs to another cluster may go without a word. */
  private chartProblems(reconciler: RegisteredReconciler): string[] {
    const { namespace, node } = Chart.of(reconciler);
    if (Chart.of(reconciler) === Chart.of(this.cluster) || !isImplicit(reconciler)) return [];
    const chart = namespace === undefined ? "'etcd-reconciler'" : `'${namespace}-etcd-reconciler', { namespace }`;
    return [
      `reconciler: the one of ${this.place()} lies in chart '${node.path}', and would go with it; add new EtcdReconciler(new Chart(app, ${chart}), 'reconciler')`,
    ];
  }

  /** Clusters of the same name must be in different namespaces, so the reconciler cannot manage both. */
  private namesakeProblems(reconciler: RegisteredReconciler): string[] {
    const other = servedNamesake(this.cluster, this.clusterName, reconciler);
    if (!other || Chart.of(other) === Chart.of(this.cluster) || Chart.of(this.cluster).namespace !== undefined)
      return [];
    return [
      `name: ${other.node.path} is called '${this.clusterName}' too, and neither chart has a namespace; give each chart its own, new Chart(app, id, { namespace }), or its own EtcdReconciler`,
    ];
  }

  private selectorProblems(reconciler: RegisteredReconciler, labels: Labels): string[] {
    if (!selects(reconciler, labels)) {
      const wanted = Object.entries(reconciler._selector() ?? {}).map(([name, value]) => `${name}=${value}`);
      return [
        `labels: reconciler '${reconciler.reconcilerName}' manages only clusters with ${wanted.join(',')}; give this cluster these labels, or another reconciler`,
      ];
    }
    const others = this.othersFor(reconciler, labels);
    if (others.length === 0) return [];
    return [
      `labels: also match the selector of reconciler ${names(others)}, but a cluster has only one reconciler; change the labels or a selector`,
    ];
  }

  /** The other reconcilers of this app that manage the cluster. */
  private othersFor(reconciler: IEtcdReconciler, labels: Labels): RegisteredReconciler[] {
    return reconcilersFor(this.cluster).filter((other) => other !== reconciler && selects(other, labels));
  }

  private place(): string {
    return placeOf(this.cluster);
  }
}

/** True if this app creates it. */
export function isLocal(reconciler: IEtcdReconciler): reconciler is RegisteredReconciler {
  return Construct.isConstruct(reconciler) && '_selector' in reconciler;
}

function selects(reconciler: RegisteredReconciler, labels: Labels): boolean {
  return Object.entries(reconciler._selector() ?? {}).every(([name, value]) => labels[name] === value);
}

function names(reconcilers: readonly IEtcdReconciler[]): string {
  return reconcilers.map(({ reconcilerName }) => `'${reconcilerName}'`).join(' and ');
}

function placeOf(construct: Construct): string {
  const { namespace } = Chart.of(construct);
  return namespace === undefined ? 'the charts without a namespace' : `namespace '${namespace}'`;
}
