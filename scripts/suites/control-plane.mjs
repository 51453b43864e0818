// `npm run suite -- control-plane [--smoke] [PATH…]`: the suites that imitate a kubelet, then those on a real kubeadm: the one that
// KUBECONFIG names, or those that CLUSTER_DRIVER brings up. docs/contributing/testing.md has the settings.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { suites } from '../lib/steps.mjs';
import { TestKubernetes } from '../lib/test-kubernetes.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false } },
});
const chosen = (isLocal, ...all) =>
  positionals.length === 0 ? all : positionals.filter((path) => path.startsWith('agent/') === isLocal);
const local = chosen(true, 'agent/src/control-plane', 'agent/test/control-plane');
const onKubernetes = chosen(false, 'test/control-plane');
// The last suite restores a snapshot of an unknown cluster: a snapshot of an older cluster would then count as foreign.
const inTurn =
  positionals.length > 0
    ? [onKubernetes]
    : [['test/control-plane/backup', 'test/control-plane/restore'], ['test/control-plane/adopt']];

function runOn(env) {
  if (!env.NODE_DRIVER) {
    console.error('control-plane: leaves out what needs a real kubeadm: NODE_DRIVER reaches no node of it');
    return 0;
  }
  const kubernetes = new TestKubernetes('control-plane', env);
  const selector = '--selector=node-role.kubernetes.io/control-plane';
  const CONTROL_PLANES = String(kubernetes.kubectl('get', 'nodes', selector, '-o', 'name').split('\n').length);
  const AGENT_IMAGE = kubernetes.provideImage();
  // One suite stops the API server, so no other can run at the same time.
  const settings = { CONTROL_PLANES, AGENT_IMAGE, E2E_SMOKE: values.smoke ? '1' : '' };
  return Math.max(...inTurn.map((paths) => kubernetes.suites(paths, settings)));
}

function bringUp(driver, planes) {
  const make = () => spawnSync('sh', ['-c', `${driver} up --control-planes ${planes}`], { stdio: ['ignore', 2, 2] });
  let up = make();
  if (up.status !== 0) {
    // The network state of the previous nodes may take a while to disappear.
    spawnSync('sleep', ['60']);
    up = make();
  }
  const script = `eval "$(${driver} env)" && exec "$0" -p 'JSON.stringify(process.env)'`;
  const { status, stdout } = spawnSync('sh', ['-c', script, process.execPath], { encoding: 'utf8' });
  const env = status === 0 ? JSON.parse(stdout) : {};
  if (up.status === 0 && env.KUBECONFIG) return { ...env, NODE_DRIVER: driver, IMAGE_LOADER: `${driver} load` };
  console.error(`control-plane: '${driver} up --control-planes ${planes}' made no Kubernetes`);
  return undefined;
}

function kubernetesSuites() {
  if (process.env.KUBECONFIG) return runOn(process.env);
  const driver = values.smoke ? undefined : process.env.CLUSTER_DRIVER;
  if (!driver) {
    console.error('control-plane: leaves out what needs a real kubeadm: set KUBECONFIG, or CLUSTER_DRIVER');
    return 0;
  }
  return Math.max(
    ...[1, 3].map((planes) => {
      const env = bringUp(driver, planes);
      return env ? runOn(env) : 1;
    }),
  );
}

process.exitCode = Math.max(
  local.length > 0 ? suites(local, { smoke: values.smoke }) : 0,
  onKubernetes.length > 0 ? kubernetesSuites() : 0,
);
