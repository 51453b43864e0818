import type { Construct } from 'constructs';
import { EtcdClientTls, EtcdCluster, type IEtcdCluster } from '../index';

/** The cluster in etcd-cluster.k8s.yaml. */
export function sampleCluster(scope: Construct): IEtcdCluster {
  return EtcdCluster.fromAttributes(scope, 'orders', {
    clusterName: 'orders',
    clientEndpoints: [0, 1, 2].map((ordinal) => `https://orders-${ordinal}-client:2379`),
    clientTls: EtcdClientTls.fromSecret('orders-client-tls'),
  });
}
