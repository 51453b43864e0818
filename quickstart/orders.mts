import { Chart, Testing } from 'cdk8s';
import library from '../lib/src/index.js';
import { quietApp } from './quiet-app.mts';

const { EtcdCluster, EtcdVersion } = library;

export const source = `new EtcdCluster(chart, 'orders', {
  size: 3,
  version: EtcdVersion.V3_6,
});`;

/** Synthesizes that TypeScript, with the given etcd version. Returns the manifests and the desired state of the cluster. */
export function synthesizeCluster(version: string) {
  const chart = new Chart(quietApp(), 'orders');
  new EtcdCluster(chart, 'orders', { size: 3, version: EtcdVersion.of(version) });
  const manifests = Testing.synth(chart);
  const { spec } = manifests.find(({ kind }) => kind === 'EtcdCluster');
  return { manifests, spec: { size: Number(spec.size), version: String(spec.version) } };
}
