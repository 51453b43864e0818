// Sets the number of members and the image. The tag of the image determines the version of etcd.
import { App, Chart } from 'cdk8s';
// From src/ in a checkout, from 'cdk8s-etcd' in your own project.
import { EtcdCluster } from '../src';

const app = new App();
const chart = new Chart(app, 'orders');
new EtcdCluster(chart, 'orders', { size: 3, image: 'quay.io/coreos/etcd:v3.5.35' });

app.synth();
