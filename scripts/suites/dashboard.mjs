// `npm run suite -- dashboard [--smoke] [--pictures]`: each panel of the dashboard against a real Prometheus, while a cluster
// lives through a leader change, a backup and a lost volume on the Kubernetes that KUBECONFIG names. --pictures draws them
// into docs/operations.
import { parseArgs } from 'node:util';
import { provideMonitoring } from '../lib/monitoring-stack.mjs';
import { TestKubernetes } from '../lib/test-kubernetes.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false }, pictures: { type: 'boolean', default: false } },
});
const kubernetes = new TestKubernetes('dashboard');
const env = {
  AGENT_IMAGE: kubernetes.provideImage(),
  MONITORING_IMAGE: await provideMonitoring(kubernetes),
  E2E_SMOKE: values.smoke ? '1' : '',
  PICTURES: values.pictures ? '1' : '',
};
const paths = positionals.length > 0 ? positionals : ['test/monitoring/dashboard'];
process.exitCode = kubernetes.suites(paths, env);
