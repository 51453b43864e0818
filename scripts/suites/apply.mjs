// `npm run suite -- apply`: the custom resources and the manifests on the Kubernetes that KUBECONFIG names.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { certManagerCrds, certManagerPlurals } from '../lib/foreign-crds.mjs';
import { suites } from '../lib/steps.mjs';

const root = join(import.meta.dirname, '../..');

function give(line) {
  console.error(`apply: ${line}`);
  process.exit(2);
}

function kubectl(...args) {
  const { error, status, stdout, stderr } = spawnSync('kubectl', args, { encoding: 'utf8' });
  if (error) give('needs kubectl on the PATH');
  if (status !== 0) give(`kubectl ${args.join(' ')}: ${stderr.trim().split('\n').at(-1)}`);
  return stdout.trim();
}

const ours = ['etcdclusters', 'etcdbackups', 'etcdrestores', 'etcdusers'].map((plural) => `${plural}.cdk8s-etcd.dev`);
const certManagers = certManagerPlurals.map((plural) => `${plural}.cert-manager.io`);
const there = (name) => Boolean(kubectl('get', 'crd', name, '--ignore-not-found', '-o', 'name'));

/** These tests delete a CustomResourceDefinition, which deletes all its objects. */
function refuseUsed(name) {
  if (there(name) && kubectl('get', name, '--all-namespaces', '-o', 'name'))
    give(`this Kubernetes has ${name}, which these tests would delete; take one that is for tests alone`);
}

/** Applies CustomResourceDefinitions, and waits until the API server serves their kinds. */
function define(directory) {
  kubectl('apply', '--server-side', '--force-conflicts', '-f', directory);
  kubectl('wait', '--for=condition=Established', '--timeout=60s', '-f', directory);
}

/** One in deletion exists until the deletion is complete, and then takes its objects with it. */
function awaitDeletion(name) {
  const deleted = there(name) && kubectl('get', 'crd', name, '-o', 'jsonpath={.metadata.deletionTimestamp}');
  if (deleted) kubectl('wait', '--for=delete', '--timeout=120s', `crd/${name}`);
}

/** Applies cert-manager's CRDs, unless it is installed. Returns where they are, or `none` if they are unavailable. */
async function provideCertManager() {
  if (there('certificates.cert-manager.io')) return '';
  const directory = await certManagerCrds().catch((error) => {
    console.error(`apply: leaves out cert-manager's Certificates: its CRDs need Go (${error.message})`);
  });
  if (!directory) return 'none';
  define(directory);
  return directory;
}

if (!process.env.KUBECONFIG) give('set KUBECONFIG to the file of a Kubernetes that may be used for tests');
kubectl('get', '--raw', '/readyz', '--request-timeout=20s');
for (const name of [...ours, ...certManagers]) awaitDeletion(name);
ours.forEach(refuseUsed);
define(join(root, 'crds'));
const certManager = await provideCertManager();

const paths = process.argv.length > 2 ? process.argv.slice(2) : ['test/apply'];
process.exitCode = suites(paths, {
  workers: 1,
  env: { CERT_MANAGER_CRDS: certManager },
});
kubectl('delete', 'crd', '--ignore-not-found', '--timeout=120s', ...ours);
if (certManager.startsWith('/')) kubectl('delete', 'crd', '--ignore-not-found', '--timeout=120s', ...certManagers);
