// `npm run suite -- e2e [--smoke]`: the agent's image on the Kubernetes that KUBECONFIG names. docs/contributing/testing.md has the settings.
import { parseArgs } from 'node:util';
import { TestKubernetes } from '../lib/test-kubernetes.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false } },
});
const kubernetes = new TestKubernetes('e2e');
const { smoke } = values;
const env = { AGENT_IMAGE: kubernetes.provideImage(), E2E_SMOKE: smoke ? '1' : '' };
process.exitCode = kubernetes.folder('test/e2e', { alone: ['api-server'], env, only: positionals, smoke });
