// Three members with a volume of 8 GiB each, with TLS and without backups.
import { App, Chart } from 'cdk8s';
// From src/ in a checkout, from 'cdk8s-etcd' in your own project.
import { EtcdCluster, EtcdCrds } from '../src';

const app = new App();
// Apply the custom resources first, once per Kubernetes cluster.
new EtcdCrds(new Chart(app, 'crds'), 'crds');

const chart = new Chart(app, 'orders');
new EtcdCluster(chart, 'orders');

app.synth();
