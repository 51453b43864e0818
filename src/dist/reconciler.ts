import { type App, Chart } from 'cdk8s';
import { EtcdReconciler } from '../index';
import { type DistFile, fileOf } from './dist-file';

const id = 'etcd-reconciler';

export function reconciler(app: App): DistFile {
  const chart = new Chart(app, id);
  new EtcdReconciler(chart, 'reconciler');
  const header = `Manages all EtcdClusters, EtcdUsers, EtcdBackups and EtcdRestores of its namespace. Apply it once per namespace. No namespace is set.
     kubectl apply --server-side -n NAMESPACE -f ${fileOf(id)}`;
  return { chart, header };
}
