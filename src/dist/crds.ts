import { type App, Chart } from 'cdk8s';
import { EtcdCrds } from '../index';
import { type DistFile, fileOf } from './dist-file';

const id = 'crds';

/** Named so that it stands before all others. */
export function crds(app: App): DistFile {
  const chart = new Chart(app, id);
  new EtcdCrds(chart, 'crds');
  const header = `The custom resources EtcdCluster, EtcdBackup and EtcdRestore: once per Kubernetes, before everything else.
     kubectl apply --server-side -f ${fileOf(id)}
     kubectl wait --for=condition=Established -f ${fileOf(id)}
Deleting them deletes every EtcdCluster, EtcdBackup and EtcdRestore.`;
  return { chart, header };
}
