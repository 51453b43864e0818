import { setTimeout as sleep } from 'node:timers/promises';
import { CoreV1Api, KubeConfig, makeInformer, type V1ConfigMap } from '@kubernetes/client-node';

/**
 * Runs an informer for the ConfigMaps of a namespace: prints its objects, name to `v`, as a line of JSON at every
 * change.
 */
const [namespace = 'default'] = process.argv.slice(2);
const config = new KubeConfig();
config.loadFromDefault();
const api = config.makeApiClient(CoreV1Api);
const labelSelector = 'ours';
const path = `/api/v1/namespaces/${namespace}/configmaps`;
const list = () => api.listNamespacedConfigMap({ namespace, labelSelector });
const informer = makeInformer<V1ConfigMap>(config, path, list, labelSelector);
const print = () => {
  const entries = informer.list().map(({ metadata, data }) => [metadata?.name, data?.v ?? '']);
  console.log(JSON.stringify(Object.fromEntries(entries)));
};
for (const verb of ['add', 'update', 'delete'] as const) informer.on(verb, print);
// It continues from the last version that it has seen, as clients do.
informer.on('error', async () => {
  await sleep(500);
  await informer.start();
});
await informer.start();
print();
process.stdin.on('end', () => process.exit()).resume();
