// cert-manager's controller in the namespace of a test. scripts/lib/cert-manager.mjs builds its image and applies its CRDs.
import { container, podSpec } from '../../e2e/support/manifests';
import type { Namespace } from '../../e2e/support/namespace';
import { slowTest } from '../../e2e/support/settings';
import { blocks } from '../../guides';
import type { Manifest } from '../../synth';

const image = process.env.CERT_MANAGER_IMAGE ?? '';
const name = 'cert-manager';

/** A test that needs cert-manager. Without its image, the test is skipped with a message. */
export const certManagerTest: (what: string, test: () => Promise<unknown>) => void = image
  ? slowTest
  : (what, work) => test.skip(`${what}: there is no image of cert-manager`, work);

/** The Issuers that the guide shows. */
export const issuers = { issuer: 'etcd-ca', peerIssuer: 'etcd-peer-ca' };

/** Starts the controller, and applies the Issuers of the guide as they stand there. */
export async function installCertManager(namespace: Namespace): Promise<void> {
  const guide = blocks('yaml').find(
    ({ name, code }) => name.startsWith('docs/clusters/tls.md:') && code.includes('kind: Issuer'),
  );
  if (!guide) throw new Error('docs/clusters/tls.md shows no Issuers');
  await namespace.apply(controller(namespace.name));
  await namespace.ready('deployment', name);
  await namespace.kubectl(['apply', '-f', '-'], guide.code);
  for (const issuer of Object.values(issuers))
    await namespace.kubectl(['wait', `issuer/${issuer}`, '--for=condition=Ready', '--timeout=120s']);
}

/** Its rights are those of cert-manager's own manifests, in this namespace alone. */
function controller(namespace: string): Manifest[] {
  const rule = (group: string, resources: string[], verbs: string[]) => ({ apiGroups: [group], resources, verbs });
  const metadata = { name };
  const labels = { app: name };
  const rbac = 'rbac.authorization.k8s.io';
  const template = {
    metadata: { labels },
    spec: podSpec({
      serviceAccountName: name,
      containers: [container(name, image, { args: [`--namespace=${namespace}`] })],
    }),
  };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata,
      rules: [
        rule('cert-manager.io', ['*'], ['*']),
        rule('', ['secrets'], ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']),
        rule('', ['events'], ['create', 'patch']),
      ],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, labels },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    },
  ];
}
