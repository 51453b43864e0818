// `npm run test:operations`: upgrades, disasters and moves of clusters on the Kubernetes that KUBECONFIG names.
import { TestKubernetes } from './lib/test-kubernetes.mjs';

const alone = ['all-nodes-off', 'crds-removed', 'node-lost', 'nodes', 'upgrade-evictions'];

const kubernetes = new TestKubernetes('test:operations');
const env = { AGENT_IMAGE: kubernetes.provideImage() };
process.exitCode = kubernetes.folder('test/operations', { alone, env, only: process.argv.slice(2) });
