// `npm run suite -- gitops [--smoke] [-t NAME] [PATH…]`: the health checks, then a platform repository that Argo CD and Flux apply to
// the Kubernetes that KUBECONFIG names. GITOPS is a command: `$GITOPS push FOLDER` makes the folder the content of the
// repository that both watch, GITOPS_REPOSITORY.
import { parseArgs } from 'node:util';
import { plugin, suites } from '../lib/steps.mjs';
import { TestKubernetes } from '../lib/test-kubernetes.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false }, name: { type: 'string', short: 't' } },
});
const named = values.name === undefined ? [] : ['-t', values.name];
const isOnKubernetes = (path) => path.startsWith('test/gitops');
const chosen = (wanted, all) =>
  positionals.length === 0 ? all : positionals.filter((path) => isOnKubernetes(path) === wanted);
const local = chosen(false, ['agent/test/gitops']);
const others = chosen(true, ['test/gitops/']);
const gitops = process.env.GITOPS;

function onKubernetes() {
  if (!process.env.KUBECONFIG || !gitops) {
    console.error('gitops: leaves out Argo CD and Flux: set KUBECONFIG, and GITOPS to a command that pushes a folder');
    return 0;
  }
  plugin();
  const kubernetes = new TestKubernetes('gitops');
  const env = { AGENT_IMAGE: kubernetes.provideImage(), GITOPS: gitops, E2E_SMOKE: values.smoke ? '1' : '' };
  return kubernetes.suites([...named, ...others], env);
}

const first = local.length > 0 ? suites([...named, ...local], { smoke: values.smoke }) : 0;
process.exitCode = Math.max(first, others.length > 0 ? onKubernetes() : 0);
