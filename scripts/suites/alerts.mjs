// `npm run suite -- alerts [--smoke] [-t NAME] [PATH…]`: each alert by promtool and on real processes, then real faults with the
// Prometheus operator, Prometheus and Alertmanager on the Kubernetes that KUBECONFIG names.
import { parseArgs } from 'node:util';
import { provideMonitoring } from '../lib/monitoring-stack.mjs';
import { suites } from '../lib/steps.mjs';
import { TestKubernetes } from '../lib/test-kubernetes.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false }, name: { type: 'string', short: 't' } },
});
const named = values.name === undefined ? [] : ['-t', values.name];
const isOnKubernetes = (path) => path.startsWith('test/monitoring');
const chosen = (wanted, all) =>
  positionals.length === 0 ? all : positionals.filter((path) => isOnKubernetes(path) === wanted);
const local = chosen(false, ['test/alerts', 'agent/test/monitoring']);
const others = chosen(true, ['test/monitoring/alerts']);

async function onKubernetes() {
  if (!process.env.KUBECONFIG) {
    console.error('alerts: leaves out the faults on Kubernetes: set KUBECONFIG');
    return 0;
  }
  const kubernetes = new TestKubernetes('alerts');
  const env = {
    AGENT_IMAGE: kubernetes.provideImage(),
    MONITORING_IMAGE: await provideMonitoring(kubernetes),
    E2E_SMOKE: values.smoke ? '1' : '',
  };
  return kubernetes.suites([...named, ...others], env);
}

const first = local.length > 0 ? suites([...named, ...local], { smoke: values.smoke }) : 0;
process.exitCode = Math.max(first, others.length > 0 ? await onKubernetes() : 0);
