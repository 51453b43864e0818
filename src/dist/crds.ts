import { type App, Chart } from 'cdk8s';
import { EtcdCrds } from '../index';
import { type DistFile, fileOf } from './dist-file';

const id = 'crds';

/** The file name sorts before all others, so that `kubectl apply -f dist/` applies the CRDs first. */
export function crds(app: App): DistFile {
  const chart = new Chart(app, id);
  new EtcdCrds(chart, 'crds');
  const header = `The custom resources EtcdCluster, EtcdBackup, EtcdRestore and EtcdUser. Apply them once per Kubernetes cluster, before all others.
     kubectl apply --server-side -f ${fileOf(id)}
     kubectl wait --for=condition=Established -f ${fileOf(id)}
If you delete them, Kubernetes deletes every EtcdCluster, EtcdBackup, EtcdRestore and EtcdUser.`;
  return { chart, header };
}
