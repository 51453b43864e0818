// Three clusters in one namespace, all managed by one reconciler.
import { App, Chart, Size } from 'cdk8s';
// From src/ in a checkout, from 'cdk8s-etcd' in your own project.
import { EtcdCluster, EtcdReconciler, EtcdResources, EtcdVersion } from '../src';

const app = new App();
const namespace = 'shop';

// Without this chart, the first cluster would create a reconciler with the defaults.
new EtcdReconciler(new Chart(app, 'etcd-reconciler', { namespace }), 'reconciler', { replicas: 2 });

const orders = new Chart(app, 'orders', { namespace });
new EtcdCluster(orders, 'orders', {
  size: 5,
  volume: { size: Size.gibibytes(20) },
  resources: EtcdResources.MEDIUM,
});

const search = new Chart(app, 'search', { namespace });
new EtcdCluster(search, 'search', { version: EtcdVersion.V3_5 });
// Its data is lost when all of its pods are lost.
new EtcdCluster(search, 'search-cache', { volume: { size: Size.gibibytes(4), ephemeral: true } });

app.synth();
