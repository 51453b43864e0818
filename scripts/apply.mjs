// `npm run test:apply`: the custom resources and the manifests on the Kubernetes that KUBECONFIG names.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { certManagerCrds } from './lib/cert-manager.mjs';

const root = join(import.meta.dirname, '..');

function give(line) {
  console.error(`test:apply: ${line}`);
  process.exit(2);
}

function kubectl(...args) {
  const { error, status, stdout, stderr } = spawnSync('kubectl', args, { encoding: 'utf8' });
  if (error) give('needs kubectl on the PATH');
  if (status !== 0) give(`kubectl ${args.join(' ')}: ${stderr.trim().split('\n').at(-1)}`);
  return stdout.trim();
}

const ours = ['etcdclusters', 'etcdbackups', 'etcdrestores'].map((plural) => `${plural}.cdk8s-etcd.dev`);
const there = (name) => Boolean(kubectl('get', 'crd', name, '--ignore-not-found', '-o', 'name'));

/** Deleting a CustomResourceDefinition, as these tests do, deletes all that was made of it. */
function refuseUsed(name) {
  if (there(name) && kubectl('get', name, '--all-namespaces', '-o', 'name'))
    give(`this Kubernetes has ${name}, which these tests would delete; take one that is for tests alone`);
}

/** cert-manager's CRDs, unless it is there. Returns where they are; `none` when they are not to be had. */
async function provideCertManager() {
  if (there('certificates.cert-manager.io')) return '';
  try {
    const directory = await certManagerCrds();
    kubectl('apply', '--server-side', '-f', directory);
    return directory;
  } catch (error) {
    console.error(`test:apply: leaves out cert-manager's Certificates: its CRDs need Go (${error.message})`);
    return 'none';
  }
}

if (!process.env.KUBECONFIG) give('set KUBECONFIG to the file of a Kubernetes that may be used for tests');
kubectl('get', '--raw', '/readyz', '--request-timeout=20s');
ours.forEach(refuseUsed);
kubectl('apply', '--server-side', '--force-conflicts', '-f', join(root, 'crds'));
const certManager = await provideCertManager();

const jest = join(root, 'node_modules/jest/bin/jest.js');
const suites = process.argv.length > 2 ? process.argv.slice(2) : ['test/apply'];
const { status } = spawnSync(process.execPath, [jest, '-c', 'jest.suites.config.mjs', '--runInBand', ...suites], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, CERT_MANAGER_CRDS: certManager },
});
kubectl('delete', 'crd', '--ignore-not-found', '--wait=false', ...ours);
if (certManager.startsWith('/')) kubectl('delete', '-f', certManager, '--wait=false');
process.exitCode = status ?? 1;
