// Users of etcd: the application, a report that only reads, and a dashboard that logs in with a password. The Deployment mounts
// the certificate of the application.
import { ApiObject, App, Chart } from 'cdk8s';
// From src/ in a checkout, from 'cdk8s-etcd' in your own project.
import { EtcdCluster, EtcdPermission } from '../src';

const app = new App();
const chart = new Chart(app, 'shop', { namespace: 'shop' });
const etcd = new EtcdCluster(chart, 'orders');
const api = etcd.addUser('api', { can: [EtcdPermission.readWrite('/api/')] });
etcd.addUser('report', { can: [EtcdPermission.read('/api/'), EtcdPermission.readKey('/version')] });
// The Secret orders-user-dashboard-password gets username and password. The dashboard also presents the certificate of all clients.
etcd.addUser('dashboard', { can: [EtcdPermission.read('/api/')], password: true });

const labels = { 'app.kubernetes.io/name': 'shop-api' };
const tlsFile = (name: string) => `/etc/etcd-client/${name}`;
const items = ['ca.crt', 'tls.crt', 'tls.key'].map((key) => ({ key, path: key }));
new ApiObject(chart, 'Deployment', {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'shop-api', labels },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        automountServiceAccountToken: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 65532,
          runAsGroup: 65532,
          // The group that may read the certificate.
          fsGroup: 65532,
          seccompProfile: { type: 'RuntimeDefault' },
        },
        containers: [
          {
            name: 'api',
            image: 'registry.example.com/shop-api:1.4.2',
            env: [
              { name: 'ETCDCTL_ENDPOINTS', value: etcd.clientEndpoints.join(',') },
              { name: 'ETCDCTL_CACERT', value: tlsFile('ca.crt') },
              { name: 'ETCDCTL_CERT', value: tlsFile('tls.crt') },
              { name: 'ETCDCTL_KEY', value: tlsFile('tls.key') },
            ],
            resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '128Mi' } },
            securityContext: {
              allowPrivilegeEscalation: false,
              capabilities: { drop: ['ALL'] },
              readOnlyRootFilesystem: true,
            },
            volumeMounts: [{ name: 'etcd-client', mountPath: '/etc/etcd-client', readOnly: true }],
          },
        ],
        // With items, the pod waits until the certificate is there.
        volumes: [{ name: 'etcd-client', secret: { secretName: api.secretName, items, defaultMode: 0o440 } }],
      },
    },
  },
});

app.synth();
