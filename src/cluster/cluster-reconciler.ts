import { Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { isAttached } from '../lib/attached';
import { EtcdReconciler } from '../reconciler/etcd-reconciler';
import type { EtcdReconcilerProps } from '../reconciler/etcd-reconciler-props';
import type { IEtcdReconciler } from '../reconciler/i-etcd-reconciler';
import {
  addExternal,
  bringReconciler,
  externalTo,
  type Labels,
  type RegisteredReconciler,
  reconcilersFor,
  servedNamesake,
} from '../reconciler/reconciler-registry';
import { nameProblem, problemsOf } from '../validation/names';

/**
 * The reconciler of one cluster: the one that it was given, else that of its namespace, which is brought when there is
 * none. Which one it is, is known only when the app is complete: ask from a Lazy, and from validations.
 */
export class ClusterReconciler {
  constructor(
    private readonly cluster: Construct,
    private readonly clusterName: string,
    private readonly given?: IEtcdReconciler,
    /** Of the one that is brought. */
    props: EtcdReconcilerProps = {},
  ) {
    if (!given) bringReconciler(cluster, () => new EtcdReconciler(cluster, 'Reconciler', props));
    else if (!isLocal(given)) addExternal(cluster, given);
  }

  get(): IEtcdReconciler {
    return this.given ?? reconcilersFor(this.cluster)[0] ?? EtcdReconciler.external();
  }

  /** The labels are those of the EtcdCluster resource, by which a reconciler may choose. */
  problems(labels: Labels): string[] {
    const found = this.given ? [this.given] : reconcilersFor(this.cluster);
    const [reconciler] = found;
    if (!reconciler) {
      return [
        "reconciler: the one of this namespace was removed with the cluster that had brought it; add new EtcdReconciler(chart, 'reconciler')",
      ];
    }
    if (found.length > 1) {
      return [
        `reconciler: ${names(reconcilersFor(this.cluster))} look after ${this.place()}; name the one of this cluster`,
      ];
    }
    if (!isLocal(reconciler)) {
      return problemsOf(nameProblem('reconciler: serviceAccountName', reconciler.serviceAccountName));
    }
    return [
      ...this.placeProblems(reconciler),
      ...this.selectorProblems(reconciler, { ...Chart.of(this.cluster).labels, ...labels }),
    ];
  }

  private placeProblems(reconciler: RegisteredReconciler): string[] {
    const { reconcilerName } = reconciler;
    if (!isAttached(reconciler)) {
      return [`reconciler: '${reconcilerName}' was removed from the app; add another one, or leave it out`];
    }
    if (Chart.of(reconciler).namespace !== Chart.of(this.cluster).namespace) {
      return [
        `reconciler: '${reconcilerName}' looks after ${placeOf(reconciler)} alone, and this cluster is in ${this.place()}; add one there`,
      ];
    }
    const foreign = externalTo(this.cluster, reconciler);
    if (foreign) {
      return [
        `reconciler: '${reconcilerName}' is another app's to ${foreign.node.path}, and this app's to this cluster; give both the same`,
      ];
    }
    return this.namesakeProblems(reconciler);
  }

  /** They cannot be in one namespace, so this one would have nobody to look after it. */
  private namesakeProblems(reconciler: RegisteredReconciler): string[] {
    const other = servedNamesake(this.cluster, this.clusterName, reconciler);
    if (!other || Chart.of(other) === Chart.of(this.cluster) || Chart.of(this.cluster).namespace !== undefined)
      return [];
    return [
      `name: ${other.node.path} is called '${this.clusterName}' too, and neither chart has a namespace; say which one each is for, new Chart(app, id, { namespace }), or give each chart an EtcdReconciler`,
    ];
  }

  private selectorProblems(reconciler: RegisteredReconciler, labels: Labels): string[] {
    if (!selects(reconciler, labels)) {
      const wanted = Object.entries(reconciler._selector() ?? {}).map(([name, value]) => `${name}=${value}`);
      return [
        `labels: reconciler '${reconciler.reconcilerName}' looks after clusters with ${wanted.join(',')} alone; give this one these labels, or another reconciler`,
      ];
    }
    const others = reconcilersFor(this.cluster).filter((other) => other !== reconciler && selects(other, labels));
    if (others.length === 0) return [];
    return [`labels: select the reconciler ${names(others)}, too, and a cluster has one; change labels or a selector`];
  }

  private place(): string {
    return placeOf(this.cluster);
  }
}

function isLocal(reconciler: IEtcdReconciler): reconciler is RegisteredReconciler {
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
