// How many members, and which image: the tag says which etcd it has.
import { App, Chart } from 'cdk8s';
// In a project of your own: from 'cdk8s-etcd'.
import { EtcdCluster } from '../src';

const app = new App();
const chart = new Chart(app, 'orders');
new EtcdCluster(chart, 'orders', { size: 3, image: 'quay.io/coreos/etcd:v3.5.35' });

app.synth();
