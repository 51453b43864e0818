import { ApiObject, type App, Chart, Testing } from 'cdk8s';
import { PruneProtection } from '../lib/prune-protection';
import { EtcdCluster } from './etcd-cluster';
import type { EtcdClusterProps } from './etcd-cluster-props';

const problem =
  "shop/namespace: Argo CD or Flux may delete the Namespace 'shop', with the volumes of shop-orders/orders; add PruneProtection.annotations() to its annotations, or set protect: false for the clusters in it";

function appWith(annotations: Record<string, string> | undefined, props: EtcdClusterProps = {}): App {
  const app = Testing.app();
  const metadata = { name: 'shop', annotations };
  // A cluster may come before or after its Namespace.
  const chart = new Chart(app, 'shop-orders', { namespace: 'shop' });
  new EtcdCluster(chart, 'orders', props);
  new ApiObject(new Chart(app, 'shop'), 'namespace', { apiVersion: 'v1', kind: 'Namespace', metadata });
  new EtcdCluster(new Chart(app, 'other', { namespace: 'other' }), 'orders', props);
  return app;
}

test.each<[string, Record<string, string> | undefined]>([
  ['without annotations', undefined],
  [
    'that only keeps Argo CD from deleting it with its Application',
    { 'argocd.argoproj.io/sync-options': 'Delete=false' },
  ],
  ['that Flux may prune', { 'kustomize.toolkit.fluxcd.io/prune': 'enabled' }],
])('refuses a Namespace %s', (_, annotations) => {
  expect(() => appWith(annotations).synth()).toThrow(problem);
});

test.each<[string, Record<string, string>]>([
  ['with the annotations of this library', PruneProtection.annotations()],
  ['that Argo CD keeps', { 'argocd.argoproj.io/sync-options': 'ServerSideApply=true, Prune=false, Delete=false' }],
  ['that Flux keeps', { 'kustomize.toolkit.fluxcd.io/prune': 'disabled' }],
])('takes a Namespace %s', (_, annotations) => {
  expect(() => appWith(annotations).synth()).not.toThrow();
});

test.each<[string, EtcdClusterProps]>([
  ['with protect: false', { protect: false }],
  ['without volumes', { volume: { ephemeral: true } }],
])('takes any Namespace of a cluster %s', (_, props) => {
  expect(() => appWith(undefined, props).synth()).not.toThrow();
});

test('takes any Namespace of a cluster that was removed from the app', () => {
  const app = appWith(undefined);
  app.node.findChild('shop-orders').node.tryRemoveChild('orders');
  expect(() => app.synth()).not.toThrow();
});
