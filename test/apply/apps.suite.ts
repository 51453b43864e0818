import type { Manifest } from '../synth';
import { type App, apps, small } from './apps';
import { Deployment, isCrd } from './deployment';
import { wholeCrds } from './schema';

const ways = [
  ['client-side', []],
  ['server-side', ['--server-side']],
] as const;

/**
 * The only part of a backup that the restricted standard forbids; the documentation of EtcdBackupSchedule mentions it.
 */
const nfs = /^Warning: would violate PodSecurity "restricted:latest": restricted volume types \([^()]*"nfs"\)$/;
const said = (stderr: string) => stderr.split('\n').filter((line) => line && !nfs.test(line));

const ofKind = ({ manifests }: Pick<App, 'manifests'>, ...kinds: string[]) =>
  manifests.filter(({ kind }) => kinds.includes(kind));

// CRDs have a separate suite.
const others = apps.filter(({ manifests }) => !manifests.every(isCrd));

describe.each(others)('$name', (app) => {
  describe.each(ways)('by %s apply', (_, flags) => {
    let deployment: Deployment;
    beforeAll(async () => {
      deployment = await Deployment.of(app, flags);
    });
    afterAll(() => deployment?.delete());

    test('is accepted by a dry run without a warning', async () => {
      expect(said(await deployment.apply('--dry-run=server', '--validate=strict'))).toEqual([]);
    });

    test('is accepted without a warning', async () => {
      expect(said(await deployment.apply('--validate=strict'))).toEqual([]);
    });

    if (ofKind(app, 'StatefulSet', 'Deployment').length > 0) {
      test('gets its pods: the restricted level admits them, and they have all that they need', () =>
        deployment.admitted());
    }

    test('changes nothing when applied again, nor the replicas and the epoch that the reconciler writes', async () => {
      const sets = ofKind(deployment, 'StatefulSet');
      const epoch = { metadata: { annotations: { 'cdk8s-etcd.dev/epoch': '2' } } };
      for (const set of sets) await deployment.patch(set, { spec: { replicas: 2, template: epoch } });
      const before = await deployment.wanted();
      expect(said(await deployment.apply())).toEqual([]);
      const after = await deployment.wanted();
      expect(after).toEqual(before);
      const found = ofKind({ manifests: after }, 'StatefulSet');
      expect(found).toHaveLength(sets.length);
      for (const set of found) expect(set).toMatchObject({ spec: { replicas: 2, template: epoch } });
    });

    test('has no difference', async () => {
      expect(await deployment.diff()).toBe('');
    });
  });
});

test('every CRD of an app is one of crds/', () => {
  const whole = wholeCrds();
  const definitions = apps.flatMap(({ manifests }) => manifests.filter(isCrd));
  for (const { metadata, ...definition } of definitions) {
    // The annotations are for Argo CD and Flux.
    const { annotations: _, ...own } = metadata;
    expect(whole).toContainEqual({ ...definition, metadata: own });
  }
});

describe('these tests detect', () => {
  const broken = (change: (pod: Manifest) => void): App => {
    const manifests = structuredClone(small.manifests) as Manifest[];
    change(manifests.find(({ kind }) => kind === 'StatefulSet').spec.template.spec);
    return { name: 'broken', manifests };
  };
  let deployment: Deployment | undefined;
  const dryRun = async (app: App) => {
    deployment = await Deployment.of(app, []);
    return said(await deployment.apply('--dry-run=server'));
  };
  afterEach(() => deployment?.delete());

  test('a field that is unknown to Kubernetes', async () => {
    await expect(dryRun(broken((pod) => Object.assign(pod, { hostUser: true })))).rejects.toThrow(/hostUser/);
  });

  test('a pod that is not restricted', async () => {
    const app = broken((pod) => Object.assign(pod.containers[0].securityContext, { allowPrivilegeEscalation: true }));
    expect(await dryRun(app)).toEqual([expect.stringContaining('allowPrivilegeEscalation != false')]);
  });

  test('what an apply changes', async () => {
    deployment = await Deployment.of(small, []);
    await deployment.apply();
    const service = deployment.manifests.find(({ kind }) => kind === 'Service');
    await deployment.patch(service, { metadata: { labels: { 'app.kubernetes.io/managed-by': 'somebody' } } });
    expect(await deployment.diff()).toContain('somebody');
    const before = await deployment.wanted();
    await deployment.apply();
    expect(await deployment.wanted()).not.toEqual(before);
  });
});
