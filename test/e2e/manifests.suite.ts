import { files } from '../manifests';
import type { Manifest } from '../synth';
import { Namespace } from './namespace';

let namespace: Namespace;
beforeAll(async () => {
  namespace = await Namespace.create('manifests');
});
afterAll(() => namespace?.delete());

const dryRun = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', '-'];

async function warningsOf(manifests: readonly Manifest[]): Promise<string[]> {
  const list = { apiVersion: 'v1', kind: 'List', items: manifests };
  const { stderr } = await namespace.kubectl(dryRun, JSON.stringify(list));
  return stderr.split('\n').filter(Boolean);
}

test.each(files)('the API server takes $file as it stands', async ({ manifests }) => {
  const hasNfs = JSON.stringify(manifests).includes('"nfs":');
  expect(await warningsOf(manifests)).toEqual(
    // The one thing of a backup that the restricted standard forbids, and EtcdBackupSchedule's documentation says so.
    hasNfs ? [expect.stringMatching(/restricted:latest": restricted volume types \([^()]*"nfs"\)$/)] : [],
  );
});

test('it refuses a field that Kubernetes does not know, and warns of a pod that is not restricted', async () => {
  const { manifests } = files[0]!;
  const broken = (change: (cronJob: Manifest) => void) => {
    const copy = structuredClone(manifests) as Manifest[];
    change(copy.find(({ kind }) => kind === 'CronJob').spec);
    return copy;
  };
  await expect(warningsOf(broken((spec) => Object.assign(spec, { suspended: true })))).rejects.toThrow(/suspended/);
  const asRoot = broken((spec) => {
    spec.jobTemplate.spec.template.spec.containers[0].securityContext.allowPrivilegeEscalation = true;
  });
  expect(await warningsOf(asRoot)).toEqual([expect.stringMatching(/allowPrivilegeEscalation/)]);
});
