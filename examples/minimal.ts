// Three members with a volume of 8 GiB each, without TLS and without backups.
import { App, Chart } from 'cdk8s';
// In a project of your own: from 'cdk8s-etcd'.
import { EtcdCluster, EtcdCrds } from '../src';

const app = new App();
// The custom resources are applied first, once per Kubernetes.
new EtcdCrds(new Chart(app, 'crds'), 'crds');

const chart = new Chart(app, 'orders');
new EtcdCluster(chart, 'orders');

app.synth();
