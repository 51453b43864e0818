import { checkSchema, restrictedProblems } from '../kubernetes';
import { files } from '../manifests';
import { cronJobOf, type Manifest, schedule } from '../synth';

const named = files.flatMap(({ file, manifests }) =>
  manifests.map((manifest) => ({ name: `${file}: ${manifest.kind} ${manifest.metadata.name}`, manifest })),
);
const cronJobs = named.filter(({ manifest }) => manifest.kind === 'CronJob');
const pods = named.flatMap(({ name, manifest }) => {
  const { kind, spec } = manifest;
  const pod = kind === 'Pod' ? spec : (spec?.jobTemplate?.spec.template.spec ?? spec?.template?.spec);
  const claims: Manifest[] = manifest.spec?.volumeClaimTemplates ?? [];
  return pod ? [{ name, pod, claims: claims.map(({ metadata }) => metadata.name as string) }] : [];
});
/** dist/ and each example. */
const apps = [...new Set(files.map(({ file }) => appOf(file)))].map((name) => ({
  name,
  manifests: files.filter(({ file }) => appOf(file) === name).flatMap(({ manifests }) => manifests),
}));

function appOf(file: string): string {
  return file.replace(/(?<=^dist|\.ts)\/.*/, '');
}

test('dist/ and every example are among them', () => {
  expect(files.map(({ file }) => file)).toEqual([
    'dist/components/monitoring/etcd-reconciler-monitoring.k8s.yaml',
    // Apply it first, because its CRDs are required. kubectl does not look into directories.
    'dist/crds.k8s.yaml',
    'dist/etcd-cluster.k8s.yaml',
    'dist/etcd-reconciler.k8s.yaml',
    'dist/existing-etcd-backup.k8s.yaml',
    'dist/samples/etcd-backup.k8s.yaml',
    'dist/samples/etcd-restore.k8s.yaml',
    'dist/samples/etcd-user.k8s.yaml',
    'examples/control-plane.ts/control-plane-backup.k8s.yaml',
    'examples/control-plane.ts/etcd-restore.yaml',
    'examples/existing-etcd.ts/orders-etcd-backup.k8s.yaml',
    'examples/filesystem.ts/etcd-backup-filesystem.k8s.yaml',
    'examples/image.ts/orders.k8s.yaml',
    'examples/imported.ts/orders.k8s.yaml',
    'examples/imported.ts/report.k8s.yaml',
    'examples/imported.ts/shop.k8s.yaml',
    'examples/minimal.ts/crds.k8s.yaml',
    'examples/minimal.ts/orders.k8s.yaml',
    'examples/production.ts/shop-etcd.k8s.yaml',
    'examples/three-clusters.ts/etcd-reconciler.k8s.yaml',
    'examples/three-clusters.ts/orders.k8s.yaml',
    'examples/three-clusters.ts/search.k8s.yaml',
    'examples/users.ts/shop.k8s.yaml',
  ]);
  expect(cronJobs).toHaveLength(7);
  expect(pods).toHaveLength(26);
});

describe.each(named)('$name', ({ manifest }) => {
  test("conforms to Kubernetes' schema", () => checkSchema(manifest));

  test('has no nulls', () => expect(JSON.stringify(manifest)).not.toMatch(/[:,[]null[,}\]]/));
});

describe.each(apps)('$name', ({ manifests }) => {
  // A static Pod is not applied.
  const others = ['CustomResourceDefinition', 'Namespace', 'Pod'];
  const namespaced = manifests.filter(({ kind }) => !others.includes(kind));

  test('is for one namespace, or has no namespace, so that kubectl -n selects it', () => {
    expect(new Set(namespaced.map(({ metadata }) => metadata.namespace)).size).toBe(1);
  });

  test('has each object once', () => {
    const keys = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
  });

  test('grants each Role that it has, and to ServiceAccounts that it has or that another app has', () => {
    const names = (kind: string) => manifests.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name);
    const bindings = manifests.filter(({ kind }) => kind === 'RoleBinding');
    expect(bindings.map(({ roleRef }) => roleRef.name).sort()).toEqual(names('Role').sort());
    const accounts: string[] = bindings.flatMap(({ subjects }) => subjects.map(({ name }: Manifest) => name));
    const external = names('Deployment').includes('etcd-reconciler') ? [] : ['etcd-reconciler'];
    expect(accounts.filter((name) => ![...names('ServiceAccount'), ...external].includes(name))).toEqual([]);
  });
});

test('dist/ names no namespace', () => {
  const [dist] = apps;
  expect(dist!.manifests.filter(({ metadata }) => metadata.namespace !== undefined)).toEqual([]);
});

describe.each(pods)('$name', ({ pod, claims }) => {
  const containers: Manifest[] = [...(pod.initContainers ?? []), ...pod.containers];
  const namesOf = (items: Manifest[]): string[] => items.map(({ name }) => name);

  test('holds to the restricted Pod Security Standard, apart from inline NFS and what runs beside etcd as root', () => {
    const hasNfs = pod.volumes?.some((volume: Manifest) => volume.nfs);
    const asRoot = ['running as non-root', 'non-root user'];
    const breaches = pod.hostPID
      ? ['host namespaces', 'volume types', 'capabilities', ...asRoot]
      : pod.hostNetwork
        ? ['host namespaces', 'volume types', ...asRoot]
        : [];
    expect(restrictedProblems(pod)).toEqual(hasNfs ? ['volume types'] : breaches);
  });

  test('every volume is mounted, and every mount has its volume', () => {
    const volumes = [...namesOf(pod.volumes ?? []), ...claims];
    const mounted = containers.flatMap(({ volumeMounts = [] }) => namesOf(volumeMounts));
    expect(new Set(volumes).size).toBe(volumes.length);
    expect([...new Set(mounted)].sort()).toEqual(volumes.sort());
    for (const { volumeMounts = [] } of containers) {
      expect(new Set(namesOf(volumeMounts)).size).toBe(volumeMounts.length);
    }
  });

  test("every file in a container's arguments is mounted", () => {
    for (const { command = [], args = [], volumeMounts } of containers) {
      const told = [...command, ...args].filter((argument: string) => !argument.startsWith('--server-tls-dir='));
      for (const path of pathsIn(told)) expect(mountsOf(path, volumeMounts)).toHaveLength(1);
    }
  });

  test('the agent knows the namespace, which is a part of the folder of backups', () => {
    const own = { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } };
    for (const { image, args = [], env = [] } of containers) {
      if (!/\/(agent|member):/.test(image) || args[0] === 'keep-image') continue;
      const named = args.some((argument: string) => /^--namespace=./.test(argument));
      if (!named) expect(env).toContainEqual({ name: 'ETCD_AGENT_NAMESPACE', valueFrom: own });
    }
  });

  test("the files in etcd's configuration are mounted there", () => {
    const told = containers.flatMap(({ args = [] }) => args).filter((each) => /^--(peer|server)-tls-dir=/.test(each));
    const [{ volumeMounts }] = pod.containers;
    for (const path of pathsIn(told)) expect(mountsOf(path, volumeMounts)).toHaveLength(1);
  });
});

function pathsIn(args: string[]): string[] {
  return args.join(' ').match(/(?<=[="])\/[\w./-]+/g) ?? [];
}

function mountsOf(path: string, mounts: Manifest[]): Manifest[] {
  return mounts.filter(({ mountPath }) => `${path}/`.startsWith(`${mountPath}/`));
}

test.each(cronJobs)('a Job created manually from $name conforms to the schema', ({ manifest }) => {
  // The same as `kubectl create job --from`.
  const { metadata, spec } = manifest.spec.jobTemplate;
  const annotations = { ...metadata.annotations, 'cronjob.kubernetes.io/instantiate': 'manual' };
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'now', ...metadata, annotations }, spec };
  checkSchema(job);
  expect(job.metadata.name).toBe('now');
});

describe('the checks find', () => {
  const broken = (change: (manifest: Manifest) => void) => {
    const manifest = structuredClone(cronJobOf(schedule()));
    change(manifest);
    return manifest;
  };
  const podOf = (manifest: Manifest) => manifest.spec.jobTemplate.spec.template.spec;

  test.each<[string, (manifest: Manifest) => void]>([
    ['a misspelt field of the CronJob', ({ spec }) => Object.assign(spec, { startingDeadlineSecond: 5 })],
    ['a misspelt field of the pod', (manifest) => Object.assign(podOf(manifest), { enableServiceLink: false })],
    ['a misspelt field of a volume', (manifest) => Object.assign(podOf(manifest).volumes[0].secret, { mode: 288 })],
    ['a missing field', (manifest) => delete manifest.spec.schedule],
    ['a wrong type', ({ spec }) => Object.assign(spec, { suspend: 'false' })],
    ['a malformed quantity', (m) => Object.assign(podOf(m).containers[0].resources.limits, { memory: '1 GB' })],
  ])('%s', (_, change) => {
    expect(() => checkSchema(broken(change))).toThrow();
  });

  test.each<[string, (pod: Manifest) => void]>([
    ['host namespaces', (pod) => Object.assign(pod, { hostNetwork: true })],
    ['volume types', (pod) => pod.volumes.push({ name: 'etc', hostPath: { path: '/etc' } })],
    ['capabilities', (pod) => delete pod.containers[0].securityContext.capabilities],
    ['privilege escalation', (pod) => delete pod.containers[0].securityContext.allowPrivilegeEscalation],
    ['running as non-root', (pod) => delete pod.securityContext.runAsNonRoot],
    ['seccomp', (pod) => delete pod.securityContext.seccompProfile],
  ])('a breach of %s', (control, change) => {
    const pod = podOf(broken((manifest) => change(podOf(manifest))));
    expect(restrictedProblems(pod)).toEqual([control]);
  });
});
