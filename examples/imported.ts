// The platform's repository exports a chart with an etcd cluster. A shop uses this chart, and a report knows only the
// cluster's names.
//
// The namespace must contain cert-manager's Issuer `etcd-ca`, which is a CA, and the volume claim `report`.
import { ApiObject, App, Chart, type ChartProps, Cron } from 'cdk8s';
import type { Construct } from 'constructs';
// From src/ in a checkout, from 'cdk8s-etcd' in your own project.
import { BackupStore, EtcdClientTls, EtcdCluster, EtcdReconciler, EtcdTls } from '../src';

/** In your own project: `import { OrdersEtcd } from '@example/platform'`. */
class OrdersEtcd extends Chart {
  readonly etcd: EtcdCluster;

  constructor(scope: Construct, id: string, props: ChartProps) {
    super(scope, id, props);
    this.etcd = new EtcdCluster(this, 'orders', {
      tls: EtcdTls.certManager({ issuer: 'etcd-ca' }),
      // Another app creates the reconciler of this namespace.
      reconciler: EtcdReconciler.external(),
    });
  }
}

class Shop extends Chart {
  constructor(scope: Construct, id: string, { etcd, ...props }: ChartProps & { readonly etcd: EtcdCluster }) {
    super(scope, id, props);
    const labels = { 'app.kubernetes.io/name': 'shop' };
    const tlsFile = (name: string) => `/etc/etcd-client/${name}`;
    new ApiObject(this, 'Deployment', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'shop', labels },
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
                name: 'shop',
                image: 'registry.example.com/shop:1.4.2',
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
            volumes: [{ name: 'etcd-client', secret: { secretName: etcd.clientTlsSecretName, defaultMode: 0o440 } }],
          },
        },
      },
    });
  }
}

const app = new App();
const namespace = 'shop';
const { etcd } = new OrdersEtcd(app, 'orders', { namespace });
new Shop(app, 'shop', { namespace, etcd });

// An app without access to the chart gives the attributes that it needs.
const report = new Chart(app, 'report', { namespace });
const known = EtcdCluster.fromAttributes(report, 'etcd', {
  clusterName: 'orders',
  clientEndpoints: [0, 1, 2].map((i) => `https://orders-${i}-client.${namespace}.svc.cluster.local:2379`),
  clientTls: EtcdClientTls.fromSecret('orders-client-tls'),
  backupEndpoints: [0, 1, 2].map((i) => `https://orders-${i}-client.${namespace}.svc.cluster.local:2382`),
  backupTls: EtcdClientTls.fromSecret('orders-backup-tls'),
});
known.addBackupSchedule('monthly', {
  schedule: Cron.monthly(),
  store: BackupStore.filesystem({ claimName: 'report' }),
});

app.synth();
