// `npm run suite -- security [--smoke] [PATH…]`: the promises of docs/operations/security-model.md, on the Kubernetes
// that KUBECONFIG names.
import { parseArgs } from 'node:util';
import { policiesEnforced } from '../lib/policies-enforced.mjs';
import { TestKubernetes } from '../lib/test-kubernetes.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false } },
});
const kubernetes = new TestKubernetes('security');
const image = kubernetes.provideImage();
const enforced = policiesEnforced(kubernetes, image);
if (!enforced)
  console.error(
    'security: this Kubernetes does not enforce NetworkPolicies: what they refuse is not tested; use one whose network plugin does',
  );
const env = {
  AGENT_IMAGE: image,
  E2E_SMOKE: values.smoke ? '1' : '',
  POLICIES: enforced ? 'enforced' : 'not enforced',
};
const only = positionals.length > 0 ? positionals : ['test/security/'];
process.exitCode = kubernetes.suites(only, env);
