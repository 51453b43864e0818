// `npm run suite -- operations [--smoke] [PATH…]`: upgrades, disasters and moves of clusters on the Kubernetes that KUBECONFIG
// names.
import { parseArgs } from 'node:util';
import { TestKubernetes } from '../lib/test-kubernetes.mjs';

const alone = ['all-nodes-off', 'crds-removed', 'node-lost', 'nodes', 'upgrade-evictions'];
const smoke = ['test/operations/no-space.suite'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false } },
});
const kubernetes = new TestKubernetes('operations');
const env = { AGENT_IMAGE: kubernetes.provideImage() };
const only = values.smoke && positionals.length === 0 ? smoke : positionals;
process.exitCode = kubernetes.folder('test/operations', { alone, env, only });
