import { Size } from 'cdk8s';
import { cluster, containersOf, objectOf, sorts, templateOf, tlsSecrets } from '../../../test/clusters';
import { restrictedProblems } from '../../../test/kubernetes';
import type { Manifest } from '../../../test/synth';
import { EtcdResources, EtcdTls, EtcdTuning, EtcdVersion, ImagePullPolicy } from '../..';
import { agentImage, memberImage } from '../../lib/agent-image';

const allContainers = (pod: Manifest): Manifest[] => [...pod.initContainers, ...pod.containers];
const names = (items: Manifest[] = []): string[] => items.map(({ name }) => name);

describe.each(sorts)('the pod of a cluster %s', (_, make) => {
  const statefulSet = objectOf(make(), 'StatefulSet');
  const pod = statefulSet.spec.template.spec;
  const hasRoot = objectOf(make(), 'EtcdCluster').spec.tls?.rootSecret !== undefined;
  const claims: string[] = names(
    (statefulSet.spec.volumeClaimTemplates ?? []).map(({ metadata }: Manifest) => metadata),
  );

  test('holds to the restricted Pod Security Standard, and writes only to volumes', () => {
    expect(restrictedProblems(pod)).toEqual([]);
    for (const { securityContext } of allContainers(pod)) expect(securityContext.readOnlyRootFilesystem).toBe(true);
  });

  test('every mount has its one volume or claim, and every volume is mounted', () => {
    const volumes = [...claims, ...names(pod.volumes)];
    expect(new Set(volumes).size).toBe(volumes.length);
    const mounted = allContainers(pod).flatMap(({ volumeMounts }) => names(volumeMounts));
    expect([...new Set(mounted)].sort()).toEqual(volumes.sort());
  });

  test('no two mounts of a container lie within each other', () => {
    for (const { volumeMounts } of allContainers(pod)) {
      const paths: string[] = volumeMounts.map(({ mountPath }: Manifest) => `${mountPath}/`);
      const nested = paths.filter((path) => paths.some((other) => other !== path && path.startsWith(other)));
      expect(nested).toEqual([]);
    }
  });

  test('the gate and the agent have the API token, and etcd does not', () => {
    const [gate, agent] = pod.initContainers;
    const [etcd] = pod.containers;
    const directory = '/var/run/secrets/kubernetes.io/serviceaccount';
    const token = { name: 'api-token', mountPath: directory, readOnly: true };
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(gate.volumeMounts).toContainEqual(token);
    expect(agent.volumeMounts).toContainEqual(token);
    expect(names(etcd.volumeMounts)).not.toContain('api-token');
    const tokens = (volume: Manifest) =>
      volume.projected?.sources.filter((source: Manifest) => source.serviceAccountToken);
    expect(pod.volumes.flatMap((volume: Manifest) => tokens(volume) ?? [])).toHaveLength(1);
  });

  test('all three see the same data, and only the gate the scratch space', () => {
    const data = (container: Manifest) => container.volumeMounts.find(({ name }: Manifest) => name === 'data');
    for (const container of allContainers(pod)) expect(data(container)).toEqual({ name: 'data', mountPath: '/data' });
    const [gate, agent] = pod.initContainers;
    expect(names(gate.volumeMounts)).toContain('scratch');
    expect(names([...agent.volumeMounts, ...pod.containers[0].volumeMounts])).not.toContain('scratch');
  });

  test('no port is named twice, and each number is declared once', () => {
    const ports = allContainers(pod).flatMap((container) => container.ports ?? []);
    expect(Object.fromEntries(ports.map(({ name, containerPort }: Manifest) => [name, containerPort]))).toEqual({
      agent: 8080,
      client: 2379,
      peer: 2380,
      metrics: 2381,
      ...(hasRoot && { backup: 2382 }),
    });
    expect(ports).toHaveLength(hasRoot ? 5 : 4);
  });

  test('every probe asks a port that its own container has', () => {
    const probed = allContainers(pod).flatMap(({ ports = [], startupProbe, livenessProbe, readinessProbe }) =>
      [startupProbe, livenessProbe, readinessProbe]
        .filter((probe) => probe)
        .map((probe) => ports.some(({ containerPort }: Manifest) => containerPort === probe.httpGet.port)),
    );
    expect(probed).toEqual([true, true, true, true]);
  });

  test('the only Secrets are those of TLS, and none is that of a store', () => {
    const secrets = new Set<string>(pod.volumes.flatMap(secretsOf));
    expect([0, 2, 3]).toContain(secrets.size);
    expect([...secrets].every((name) => /-(peer|server|root)(-tls|-cert)?$/.test(name))).toBe(true);
    expect(JSON.stringify(pod)).not.toContain('secretKeyRef');
  });

  test('has resource requests, and no CPU limit that would slow an election', () => {
    for (const { resources } of allContainers(pod)) {
      expect(resources.requests).toEqual({ cpu: expect.any(String), memory: expect.any(String) });
      expect(resources.limits).toEqual({ memory: expect.any(String) });
    }
  });
});

test("only the agent has root's certificate, and it serves the port for backups", () => {
  const { gate, agent, etcd } = containersOf(cluster());
  const root = { name: 'root-tls', mountPath: '/etc/etcd/tls/root', readOnly: true };
  expect(agent.volumeMounts).toContainEqual(root);
  expect(names([...gate.volumeMounts, ...etcd.volumeMounts])).not.toContain('root-tls');
  const flags = ['--root-tls-dir=/etc/etcd/tls/root', '--backup-listen=0.0.0.0:2382', '--backup-user=orders-backup'];
  expect(agent.args).toEqual(expect.arrayContaining(flags));
  expect(gate.args.filter((arg: string) => /root|backup/.test(arg))).toEqual([]);
  const without = containersOf(cluster({ tls: EtcdTls.fromSecrets(tlsSecrets) })).agent;
  expect(without.args.filter((arg: string) => /root|backup/.test(arg))).toEqual([]);
  expect(names(without.volumeMounts)).not.toContain('root-tls');
});

test('the gate runs before etcd, the agent beside it', () => {
  const { gate, agent, etcd } = containersOf(cluster());
  expect([gate.name, agent.name, etcd.name]).toEqual(['gate', 'agent', 'etcd']);
  expect([gate.restartPolicy, agent.restartPolicy, etcd.restartPolicy]).toEqual([undefined, 'Always', undefined]);
  expect(etcd.command).toEqual(['etcd', '--config-file=/data/etcd.yaml']);
  expect(etcd).not.toHaveProperty('args');
  expect(etcd).not.toHaveProperty('env');
});

test('only the gate has the image that contains an etcd of each minor; an image of your own is for both', () => {
  const images = ({ gate, agent }: ReturnType<typeof containersOf>) => [gate.image, agent.image];
  expect(images(containersOf(cluster()))).toEqual([memberImage, agentImage]);
  expect(images(containersOf(cluster({ agentImage: 'mine:2' })))).toEqual(['mine:2', 'mine:2']);
});

test('the gate and the agent get the same arguments, and each those of its own', () => {
  const { gate, agent } = containersOf(cluster({ clusterDomain: 'k8s.example.com' }));
  const common = [
    '--cluster=orders',
    '--data-dir=/data',
    '--settings=/etc/etcd-agent/settings/settings.json',
    '--record=orders-record',
    '--peer-service=orders-peers',
    '--cluster-domain=k8s.example.com',
    '--peer-tls-dir=/etc/etcd/tls/peer',
    '--server-tls-dir=/etc/etcd/tls/server',
  ];
  const own = ['--root-tls-dir=/etc/etcd/tls/root', '--backup-listen=0.0.0.0:2382', '--backup-user=orders-backup'];
  expect(agent.args).toEqual(['serve', ...common, ...own]);
  expect(gate.args).toEqual(['gate', ...common, '--scratch-dir=/scratch']);
  expect(objectOf(cluster(), 'ConfigMap').data).toHaveProperty(['settings.json']);
});

test('who a pod is, its epoch and its version come as environment', () => {
  const { gate, agent } = containersOf(cluster({ version: EtcdVersion.of('3.5.30') }));
  const field = (fieldPath: string) => ({ valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } });
  expect(gate.env).toEqual([
    { name: 'POD_NAME', ...field('metadata.name') },
    { name: 'POD_UID', ...field('metadata.uid') },
    { name: 'POD_IP', ...field('status.podIP') },
    { name: 'ETCD_AGENT_NAMESPACE', ...field('metadata.namespace') },
    { name: 'MIN_EPOCH', ...field("metadata.annotations['cdk8s-etcd.dev/epoch']") },
    { name: 'ETCD_VERSION', value: '3.5.30' },
  ]);
  expect(agent.env).toEqual(gate.env);
});

test('etcd drains before it stops, may replay for half an hour, and a hung one is not waited for', () => {
  const { etcd } = containersOf(cluster());
  expect(etcd.lifecycle).toEqual({ preStop: { sleep: { seconds: 5 } } });
  expect(etcd).not.toHaveProperty('readinessProbe');
  expect(etcd.startupProbe.httpGet).toEqual({ path: '/livez', port: 2381 });
  expect(etcd.startupProbe.periodSeconds * etcd.startupProbe.failureThreshold).toBe(1800);
  expect(etcd.livenessProbe).toMatchObject({
    httpGet: { path: '/livez', port: 2381 },
    terminationGracePeriodSeconds: 10,
  });
  expect(templateOf(cluster()).spec.terminationGracePeriodSeconds).toBe(60);
});

test.each([
  [Size.mebibytes(512), 75],
  [Size.gibibytes(2), 120],
  [Size.gibibytes(8), 300],
])('liveness outlasts the defragmentation of a database of %p', (quota, seconds) => {
  // `/livez` reads from the database, which a defragmentation locks: half a minute a GiB, and a minute to spare.
  const { livenessProbe } = containersOf(cluster({ quota, volume: { size: Size.gibibytes(20) } })).etcd;
  expect(livenessProbe.periodSeconds * livenessProbe.failureThreshold).toBeGreaterThanOrEqual(seconds);
});

test('readiness and liveness of the agent are its own, over TLS where there is', () => {
  const probes = (agent: Manifest) => [agent.readinessProbe.httpGet, agent.livenessProbe.httpGet];
  expect(probes(containersOf(cluster()).agent)).toEqual([
    { path: '/readyz', port: 8080, scheme: 'HTTPS' },
    { path: '/livez', port: 8080, scheme: 'HTTPS' },
  ]);
  const tls = EtcdTls.none();
  expect(probes(containersOf(cluster({ tls })).agent).map(({ scheme }) => scheme)).toEqual(['HTTP', 'HTTP']);
});

test('certificates are mounted where the agent expects them, and only the group can read the keys', () => {
  const secured = cluster({ tls: EtcdTls.fromSecrets(tlsSecrets) });
  const { gate, agent, etcd } = containersOf(secured);
  const directories = ['/etc/etcd/tls/peer', '/etc/etcd/tls/server'];
  for (const { args } of [gate, agent]) {
    expect(args).toEqual(
      expect.arrayContaining([`--peer-tls-dir=${directories[0]}`, `--server-tls-dir=${directories[1]}`]),
    );
  }
  const tlsMounts = (container: Manifest) =>
    container.volumeMounts.map(({ mountPath }: Manifest) => mountPath).filter((path: string) => path.includes('tls'));
  expect([gate, agent, etcd].map(tlsMounts)).toEqual([directories, directories, directories]);
  const items = ['ca.crt', 'tls.crt', 'tls.key'].map((key) => ({ key, path: key }));
  const list = [{ key: 'ca.crl', path: 'ca.crl' }];
  const volume = (name: string) => ({
    defaultMode: 0o440,
    sources: [{ secret: { name, items } }, { secret: { name, items: list, optional: true } }],
  });
  expect(templateOf(secured).spec.volumes.filter(({ name }: Manifest) => name.endsWith('-tls'))).toEqual([
    { name: 'peer-tls', projected: volume('orders-peer') },
    { name: 'server-tls', projected: volume('orders-server') },
  ]);
});

describe('while the source of the certificates changes', () => {
  const users = { ...tlsSecrets, root: 'orders-root', backup: 'orders-backup' };
  const volumesOf = (tls: EtcdTls) =>
    Object.fromEntries(
      templateOf(cluster({ tls })).spec.volumes.flatMap(({ name, projected }: Manifest) =>
        name.endsWith('-tls')
          ? [[name, projected.sources.map(({ secret }: Manifest) => `${secret.name}: ${secret.items.map(pathOf)}`)]]
          : [],
      ),
    );
  const pathOf = ({ key, path }: Manifest): string => (key === path ? key : `${key} as ${path}`);

  test('members have their own certificates, the authorities of both, and the list of the reconciler', () => {
    expect(volumesOf(EtcdTls.managed({ alsoTrust: EtcdTls.fromSecrets(users) }))).toEqual({
      'peer-tls': [
        'orders-peer-tls: tls.crt,tls.key',
        'orders-tls-trust: peer-ca.crt as ca.crt',
        'orders-peer-tls: ca.crl',
      ],
      'server-tls': [
        'orders-server-tls: tls.crt,tls.key',
        'orders-tls-trust: server-ca.crt as ca.crt',
        'orders-server-tls: ca.crl',
      ],
      'root-tls': ['orders-root-tls: tls.crt,tls.key', 'orders-tls-trust: client-ca.crt as ca.crt'],
    });
    expect(volumesOf(EtcdTls.fromSecrets({ ...users, alsoTrust: EtcdTls.managed() }))).toEqual({
      'peer-tls': [
        'orders-peer: tls.crt,tls.key',
        'orders-tls-trust: peer-ca.crt as ca.crt',
        'orders-peer-tls: ca.crl',
      ],
      'server-tls': [
        'orders-server: tls.crt,tls.key',
        'orders-tls-trust: server-ca.crt as ca.crt',
        'orders-server-tls: ca.crl',
      ],
      'root-tls': ['orders-root: tls.crt,tls.key', 'orders-tls-trust: client-ca.crt as ca.crt'],
    });
  });

  test('the pods say whom they trust', () => {
    const trusts = (tls: EtcdTls) => templateOf(cluster({ tls })).metadata.annotations['cdk8s-etcd.dev/trusts'];
    expect(trusts(EtcdTls.managed())).toBeUndefined();
    expect(trusts(EtcdTls.managed({ alsoTrust: EtcdTls.fromSecrets(users) }))).toBe('orders-peer-tls,orders-peer');
    expect(trusts(EtcdTls.fromSecrets({ ...users, alsoTrust: EtcdTls.managed() }))).toBe('orders-peer,orders-peer-tls');
  });
});

test('members get the lists of revoked certificates that the reconciler writes', () => {
  const { volumes } = templateOf(cluster({ tls: EtcdTls.managed() })).spec;
  const filesOf = (name: string) =>
    volumes.find((each: Manifest) => each.name === name).secret.items.map(({ path }: Manifest) => path);
  for (const name of ['peer-tls', 'server-tls'])
    expect(filesOf(name)).toEqual(['ca.crt', 'tls.crt', 'tls.key', 'ca.crl']);
});

test('a restore in the gate may use what etcd may', () => {
  const { gate, agent, etcd } = containersOf(cluster({ resources: EtcdResources.LARGE }));
  expect(gate.resources).toEqual({
    requests: { cpu: '10m', memory: '32Mi' },
    limits: { memory: etcd.resources.limits.memory },
  });
  expect(agent.resources).toEqual({ requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '128Mi' } });
});

test('data is in a claim, or in an emptyDir on disk of the same size', () => {
  const size = Size.gibibytes(20);
  const persistent = objectOf(
    cluster({ volume: { size, storageClass: 'fast', readWriteOncePod: true } }),
    'StatefulSet',
  ).spec;
  expect(persistent.volumeClaimTemplates).toEqual([
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data' },
      spec: {
        accessModes: ['ReadWriteOncePod'],
        storageClassName: 'fast',
        volumeMode: 'Filesystem',
        resources: { requests: { storage: '20Gi' } },
      },
      // Kubernetes adds it; without it a second apply changes the StatefulSet.
      status: { phase: 'Pending' },
    },
  ]);
  expect(persistent.persistentVolumeClaimRetentionPolicy).toEqual({ whenDeleted: 'Retain', whenScaled: 'Retain' });
  const ephemeral = objectOf(cluster({ volume: { size, ephemeral: true } }), 'StatefulSet').spec;
  expect(ephemeral).not.toHaveProperty('volumeClaimTemplates');
  expect(ephemeral).not.toHaveProperty('persistentVolumeClaimRetentionPolicy');
  expect(ephemeral.template.spec.volumes).toContainEqual({ name: 'data', emptyDir: { sizeLimit: '20Gi' } });
});

test('where a pod may run, and how its images are pulled, is passed on', () => {
  const tolerations = [{ key: 'dedicated', operator: 'Equal', value: 'etcd', effect: 'NoSchedule' }];
  const { spec, metadata } = templateOf(
    cluster({
      tolerations,
      nodeSelector: { disk: 'ssd' },
      priorityClassName: 'critical',
      imagePullSecrets: ['mirror'],
      imagePullPolicy: ImagePullPolicy.ALWAYS,
      registry: 'registry.example.com/mirror',
      podAnnotations: { 'prometheus.io/scrape': 'true' },
      labels: { team: 'storage' },
    }),
  );
  expect(spec).toMatchObject({
    tolerations,
    nodeSelector: { disk: 'ssd' },
    priorityClassName: 'critical',
    imagePullSecrets: [{ name: 'mirror' }],
  });
  for (const { image, imagePullPolicy } of allContainers(spec)) {
    expect(image).toMatch(/^registry\.example\.com\/mirror\//);
    expect(imagePullPolicy).toBe('Always');
  }
  expect(metadata.annotations).toMatchObject({ 'prometheus.io/scrape': 'true' });
  expect(metadata.labels).toMatchObject({ team: 'storage' });
});

describe('the hash of the settings', () => {
  const hash = (...args: Parameters<typeof cluster>) =>
    templateOf(cluster(...args)).metadata.annotations['cdk8s-etcd.dev/settings-hash'];
  const original = hash();

  test.each([
    ['a setting', { settings: { 'max-request-bytes': 10_000_000 } }],
    ['the quota', { quota: Size.gibibytes(1) }],
    ['the volume, and with it the quota', { volume: { size: Size.gibibytes(4) } }],
    ['the tuning', { tuning: EtcdTuning.WAN }],
  ])('changes with %s', (_, props) => expect(hash(props)).not.toBe(original));

  test.each([
    ['the size', { size: 5 }],
    ['resources', { resources: EtcdResources.LARGE }],
    ['labels', { labels: { team: 'storage' } }],
    ['what is the default anyway', { tuning: EtcdTuning.LAN, quota: Size.mebibytes(3584) }],
    ['a patch of the same minor', { version: EtcdVersion.of('3.6.12') }],
  ])('stays with another value of %s', (_, props) => expect(hash(props)).toBe(original));

  test('does not change with the order in which settings are written', () => {
    const settings = { 'max-request-bytes': 10_000_000, 'max-txn-ops': 256 };
    const reversed = Object.fromEntries(Object.entries(settings).reverse());
    expect(hash({ settings })).toBe(hash({ settings: reversed }));
  });
});

const secretsOf = ({ secret, projected }: Manifest): string[] => [
  ...(secret ? [secret.secretName] : []),
  ...(projected?.sources ?? []).flatMap((source: Manifest) => source.secret?.name ?? []),
];

test('the agent and the gate have the resources that are given, and the rest by default', () => {
  const resources = { requests: { cpu: '50m' }, limits: { memory: '3Gi' } };
  const given = containersOf(cluster({ containers: { agent: { resources }, gate: { resources } } }));
  const complete = { requests: { cpu: '50m', memory: '3Gi' }, limits: { memory: '3Gi' } };
  expect([given.agent.resources, given.gate.resources]).toEqual([complete, complete]);
  const { agent, gate } = containersOf(cluster());
  const requests = { cpu: '10m', memory: '32Mi' };
  expect(agent.resources).toEqual({ requests, limits: { memory: '128Mi' } });
  expect(gate.resources).toEqual({ requests, limits: { memory: '2Gi' } });
});

test('a gate without the memory for a restore is refused', () => {
  const gate = { resources: { limits: { memory: '64Mi' } } };
  expect(() => containersOf(cluster({ containers: { gate } }))).toThrow(
    /containers[.]gate[.]resources: the limit of memory of the gate, which restores, is below a quarter of the quota/,
  );
});
