import { defaultReconcilerName, type ExternalReconcilerOptions } from './etcd-reconciler-props';
import type { IEtcdReconciler } from './i-etcd-reconciler';

/** A reconciler that another app owns. */
export class ExternalEtcdReconciler implements IEtcdReconciler {
  readonly reconcilerName: string;
  readonly serviceAccountName: string;

  constructor({ name = defaultReconcilerName, serviceAccountName = name }: ExternalReconcilerOptions) {
    this.reconcilerName = name;
    this.serviceAccountName = serviceAccountName;
  }
}
