import { type App, Chart } from 'cdk8s';
import { EtcdPermission, EtcdUser } from '../index';
import { type DistFile, fileOf } from './dist-file';
import { sampleCluster } from './sample-cluster';

const id = 'etcd-user';

export function sampleUser(app: App): DistFile {
  const chart = new Chart(app, id);
  const user = new EtcdUser(chart, 'api', {
    cluster: sampleCluster(chart),
    can: [EtcdPermission.readWrite('/api/'), EtcdPermission.readKey('/version')],
  });
  const header = `The user api of the EtcdCluster orders, which may read and write the keys below /api/, and read the key /version. The
reconciler of the namespace writes its certificate into the Secret ${user.secretName}; never use kubectl replace, which would
delete it. docs/clusters/users.md describes users.
With the first user, etcd's authentication is switched on: who has no user may do nothing from then on, also with the
certificate in orders-client-tls.
1. Change the cluster, the name of the user and its permissions to yours. The names of the Secret, the Role and the RoleBinding
   belong to the name of the user.
2. Create the user, and watch until it is ready.
     kubectl apply --server-side -n NAMESPACE -f ${fileOf(id)}
     kubectl get etcduser -n NAMESPACE -w`;
  return { chart, header };
}
