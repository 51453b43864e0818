// `npm run suite -- operations [--smoke] [PATH…]`: upgrades, disasters and moves of clusters on the Kubernetes that KUBECONFIG
// names.
import { parseArgs } from 'node:util';
import { provideCertManager } from '../lib/cert-manager.mjs';
import { TestKubernetes } from '../lib/test-kubernetes.mjs';

const alone = ['all-nodes-off', 'crds-removed', 'node-lost', 'nodes', 'upgrade-evictions'];
const smoke = ['test/operations/no-space.suite'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false } },
});
const kubernetes = new TestKubernetes('operations');
const only = values.smoke && positionals.length === 0 ? smoke : positionals;
const runs = (file) => only.length === 0 || only.some((path) => `test/operations/${file}.suite.ts`.includes(path));
const env = {
  AGENT_IMAGE: kubernetes.provideImage(),
  CERT_MANAGER_IMAGE: runs('cert-manager') ? await provideCertManager(kubernetes) : '',
};
process.exitCode = kubernetes.folder('test/operations', { alone, env, only });
