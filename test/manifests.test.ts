import { checkSchema, restrictedProblems } from './kubernetes';
import { files } from './manifests';
import { cronJobOf, type Manifest, schedule } from './synth';

const manifests = files.flatMap(({ file, manifests }) =>
  manifests.map((manifest) => ({ name: `${file}: ${manifest.kind} ${manifest.metadata.name}`, manifest })),
);
const cronJobs = manifests.filter(({ manifest }) => manifest.kind === 'CronJob');

test('dist/ and every example are among them', () => {
  expect(files.map(({ file }) => file)).toEqual([
    'dist/etcd-backup-s3.k8s.yaml',
    'examples/filesystem.ts/etcd-backup-filesystem.k8s.yaml',
    'examples/foreign-etcd.ts/orders-etcd-backup.k8s.yaml',
  ]);
  expect(cronJobs).toHaveLength(3);
});

describe.each(manifests)('$name', ({ manifest }) => {
  test("holds to Kubernetes' schema", () => checkSchema(manifest));

  test('has no nulls', () => expect(JSON.stringify(manifest)).not.toContain('null'));

  test('names no namespace, so that kubectl -n decides', () => {
    expect(manifest.metadata.namespace).toBeUndefined();
  });
});

describe.each(cronJobs)('$name', ({ manifest }) => {
  const { template } = manifest.spec.jobTemplate.spec;

  test('holds to the restricted Pod Security Standard, apart from inline NFS', () => {
    const hasNfs = template.spec.volumes.some((volume: Manifest) => volume.nfs);
    expect(restrictedProblems(template.spec)).toEqual(hasNfs ? ['volume types'] : []);
  });

  test('a Job made of it by hand holds to the schema', () => {
    // What `kubectl create job --from` does.
    const { metadata, spec } = manifest.spec.jobTemplate;
    const annotations = { ...metadata.annotations, 'cronjob.kubernetes.io/instantiate': 'manual' };
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'now', ...metadata, annotations }, spec };
    checkSchema(job);
    expect(job.metadata.name).toBe('now');
  });

  test('every volume is mounted, and every mount has its volume', () => {
    const [container] = template.spec.containers;
    const names = (items: Manifest[]) => items.map(({ name }) => name).sort();
    expect(names(container.volumeMounts)).toEqual(names(template.spec.volumes));
    expect(new Set(names(template.spec.volumes)).size).toBe(template.spec.volumes.length);
  });

  test('every file that the agent is told of is mounted', () => {
    const [{ args, volumeMounts }] = template.spec.containers;
    const paths: string[] = args.join(' ').match(/(?<=[="])\/[\w./-]+/g);
    expect(paths.length).toBeGreaterThan(0);
    const mountsOf = (path: string) =>
      volumeMounts.filter((mount: Manifest) => `${path}/`.startsWith(`${mount.mountPath}/`));
    for (const path of paths) expect(mountsOf(path)).toHaveLength(1);
  });
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
