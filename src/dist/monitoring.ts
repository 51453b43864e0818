import { ApiObject, type App, Chart } from 'cdk8s';
import { reconcilerMonitoring } from '../reconciler/etcd-reconciler-monitoring';
import { defaultReconcilerName } from '../reconciler/etcd-reconciler-props';
import { defaults } from '../resource/defaults';
import { type DistFile, fileOf } from './dist-file';

const id = 'etcd-reconciler-monitoring';

/** What `addMonitoring` of the reconciler in dist/ adds to it. */
export function monitoring(app: App): DistFile {
  const chart = new Chart(app, id);
  const { replicas } = defaults.EtcdReconcilerSpec;
  for (const [name, manifest] of reconcilerMonitoring({ name: defaultReconcilerName, replicas }, {}))
    new ApiObject(chart, name, manifest);
  const header = `What Prometheus needs to monitor the reconciler: ServiceMonitor, alerts, a dashboard, and who may connect. It needs the
Prometheus operator.
     kubectl apply --server-side -n NAMESPACE -f ${fileOf(id)}`;
  return { chart, header };
}
