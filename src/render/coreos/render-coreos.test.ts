import { errorsOf, only, type Rendering, rendering } from '../../../test/rendering';
import type { Manifest } from '../../../test/synth';

const resource = (kind: string, spec: Manifest, metadata: Manifest = {}) => ({
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind,
  metadata: { name: 'orders', ...metadata },
  spec,
});
const cluster = (spec: Manifest = {}, metadata: Manifest = {}) =>
  resource('EtcdCluster', { size: 3, version: '3.5.20', ...spec }, metadata);
const s3 = { path: 'backups/etcd/orders.db', awsSecret: 'aws' };
const etcdEndpoints = ['http://orders-client:2379'];
const backup = (spec: Manifest = {}, metadata: Manifest = {}) =>
  resource('EtcdBackup', { etcdEndpoints, storageType: 'S3', s3, ...spec }, metadata);
const periodic = (backupPolicy: Manifest = {}, metadata: Manifest = {}) =>
  backup({ backupPolicy: { backupIntervalInSecond: 3600, ...backupPolicy } }, metadata);
const restore = (spec: Manifest = {}, metadata: Manifest = {}) =>
  resource('EtcdRestore', { etcdCluster: { name: 'orders' }, backupStorageType: 'S3', s3, ...spec }, metadata);

const storeOf = (more: Manifest = {}) => ({ s3: { bucket: 'backups', credentials: { secretName: 'aws' }, ...more } });
const etcdOf = (rendered: Rendering) => only(rendered, 'StatefulSet').spec.template.spec.containers[0];

/** The lines about a field, without what stands before it. */
const about = ({ lines }: Rendering, field: string) =>
  lines.flatMap((line) => {
    const [kind, , found, ...text] = line.split(': ');
    return found === field ? [`${kind}: ${text.join(': ')}`] : [];
  });

describe('a cluster', () => {
  test('with size and version alone', () => {
    const rendered = rendering([cluster()]);
    expect(only(rendered, 'EtcdCluster').spec).toEqual({ size: 3, version: '3.5.20', storage: { size: '8Gi' } });
    expect(etcdOf(rendered).image).toBe('gcr.io/etcd-development/etcd:v3.5.20');
    const on = (text: string) => `note: EtcdCluster orders (document 1): ${text}`;
    expect(rendered.lines).toEqual([
      on(
        "metadata.name: the old cluster has a Service 'orders', and so does the new one; apply this to another namespace (--namespace), or after the old cluster has been deleted",
      ),
      on(
        'metadata.name: clients reach the new cluster at orders-0-client:2379 and so on, or at orders:2379, and no longer at orders-client:2379',
      ),
      on(
        "spec.pod.persistentVolumeClaimSpec: is missing, so a pod's data was lost with the pod; each member now has a volume of 8Gi with the default storage class",
      ),
      on(
        "spec: the new cluster starts empty; to keep the data, back up the old cluster, add an EtcdRestore of 'orders' from that snapshot to this file, and render it again",
      ),
      expect.stringMatching(/^note: etcd 3\.5\.20 has known vulnerabilities: .*use 3\.5\.33 or newer/),
    ]);
  });

  test.each<[Manifest, string, string[]]>([
    ['3.5.20', '3.5.20', []],
    ['v3.6.11', '3.6.11', []],
    [
      '3.5.4',
      '3.5.11',
      [
        'note: 3.5.4 is older than 3.5.11, the oldest supported version of 3.5, and becomes 3.5.11; prefer 3.5.35, the newest',
      ],
    ],
    [
      '3.6.0-rc.1',
      '3.6.11',
      [
        'note: 3.6.0-rc.1 is older than 3.6.11, the oldest supported version of 3.6, and becomes 3.6.11; prefer 3.6.16, the newest',
      ],
    ],
    [
      '3.4.13',
      '3.5.11',
      [
        'note: 3.4.13 is older than 3.5.11, the oldest supported version of 3.5, and becomes 3.5.11; prefer 3.5.35, the newest. Members cannot be upgraded in place from 3.4: a backup and a restore carry the data over',
      ],
    ],
    [
      '3.2.13',
      '3.5.11',
      [
        'note: 3.2.13 is older than 3.5.11, the oldest supported version of 3.5, and becomes 3.5.11; prefer 3.5.35, the newest. Members cannot be upgraded in place from 3.2: a backup and a restore carry the data over. Restores are tested from 3.4 on: upgrade the old cluster to 3.4 first, one minor version at a time',
      ],
    ],
    [undefined, '3.6.16', ['note: is missing, and that operator then ran 3.2.13; it becomes 3.6.16']],
  ])('of version %s runs %s', (given, version, lines) => {
    const rendered = rendering([cluster({ version: given })]);
    expect(only(rendered, 'EtcdCluster').spec.version).toBe(version);
    expect(etcdOf(rendered).image).toBe(`gcr.io/etcd-development/etcd:v${version}`);
    expect(about(rendered, 'spec.version')).toEqual(lines);
  });

  test('with backups and a restore of its own, as until version 0.6', () => {
    const ofS3 = { s3Bucket: 'backups', prefix: 'etcd', awsSecret: 'aws' };
    const backup = { backupIntervalInSecond: 1800, maxBackups: 5, storageType: 'S3', s3: ofS3, autoDelete: true };
    const rendered = rendering([cluster({ backup, restore: { backupClusterName: 'old', storageType: 'S3' } })]);
    expect(only(rendered, 'EtcdCluster').spec.backup).toEqual({
      schedule: 'backup',
      schedules: [
        {
          name: 'backup',
          cron: '*/30 * * * *',
          stores: [
            { s3: { bucket: 'backups', prefix: 'etcd', credentials: { secretName: 'aws' } }, retention: { last: 5 } },
          ],
        },
      ],
    });
    expect(only(rendered, 'CronJob').metadata.name).toBe('orders-backup');
    expect(about(rendered, 'spec.backup')).toEqual([
      expect.stringMatching(/^note: becomes the backup schedule 'backup', each 30 min; /),
    ]);
    expect(about(rendered, 'spec.restore')).toEqual([
      "not carried over: restored this cluster; to start 'orders' from a snapshot, add an EtcdRestore to this file",
    ]);
    const everything = rendering([cluster({ backup: { storageType: 'S3', s3: ofS3 } })]);
    expect(only(everything, 'EtcdCluster').spec.backup.schedules[0].stores[0]).not.toHaveProperty('retention');
  });

  test.each([{}, { storageType: 'PersistentVolume', pv: { volumeSizeInMB: 512 } }, { storageType: 'S3', s3: {} }])(
    'with backups that cannot go on: %j',
    (backup) => {
      const rendered = rendering([cluster({ backup })]);
      expect(only(rendered, 'EtcdCluster').spec).not.toHaveProperty('backup');
      expect(about(rendered, 'spec.backup')).toEqual([
        expect.stringMatching(
          /^not carried over: took the backups of this cluster, and only those with storageType: S3/,
        ),
      ]);
    },
  );

  test('of a repository of its own', () => {
    const repository = 'registry.example.com/etcd';
    const same = rendering([cluster({ repository })]);
    expect(etcdOf(same).image).toBe('registry.example.com/etcd:v3.5.20');
    expect(about(same, 'spec.repository')).toEqual([]);
    const other = rendering([cluster({ repository, version: '3.4.13' })]);
    expect(etcdOf(other).image).toBe('registry.example.com/etcd:v3.5.11');
    expect(about(other, 'spec.repository')).toEqual(['note: must contain the image registry.example.com/etcd:v3.5.11']);
    expect(etcdOf(rendering([cluster({ repository: 'quay.io/coreos/etcd' })])).image).toMatch(/^gcr\.io/);
  });

  test('of an even size, and without a size', () => {
    const even = rendering([cluster({ size: 4 })]);
    expect(only(even, 'EtcdCluster').spec).toMatchObject({ size: 4, allowEvenSize: true });
    expect(about(even, 'spec.size')).toEqual(['note: 4 members survive no more failures than 3; prefer an odd size']);
    expect(about(rendering([cluster({ size: undefined })]), 'spec.size')).toEqual(['note: is missing; it becomes 3']);
  });

  test('with all fields of its pods', () => {
    const tolerations = [{ key: 'etcd', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }];
    const nodeSelectorTerms = [{ matchExpressions: [{ key: 'disk', operator: 'Exists' }] }];
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
    const rendered = rendering([
      cluster(
        {
          paused: true,
          pod: {
            labels: { tier: 'db' },
            annotations: { 'example.com/a': 'b' },
            nodeSelector: { disk: 'ssd' },
            tolerations,
            antiAffinity: true,
            affinity: { podAntiAffinity: {}, nodeAffinity },
            resources: {
              requests: { cpu: '500m', memory: '1Gi' },
              limits: { cpu: 2, memory: '4Gi', 'nvidia.com/gpu': 1 },
            },
            securityContext: { runAsUser: 9000, fsGroup: 9000 },
            busyboxImage: 'busybox',
            DNSTimeoutInSecond: 5,
            ClusterDomain: '.example.internal',
            persistentVolumeClaimSpec: {
              accessModes: ['ReadWriteMany'],
              storageClassName: 'fast',
              volumeMode: 'Filesystem',
              resources: { requests: { storage: '20Gi' }, limits: { storage: '30Gi' } },
            },
            frobnicate: 1,
          },
        },
        { labels: { team: 'shop' }, annotations: { 'etcd.database.coreos.com/scope': 'clusterwide' } },
      ),
    ]);
    const { spec, metadata } = only(rendered, 'StatefulSet').spec.template;
    expect(metadata.labels).toMatchObject({ tier: 'db', team: 'shop' });
    expect(metadata.annotations).toMatchObject({ 'example.com/a': 'b' });
    expect(spec).toMatchObject({ nodeSelector: { disk: 'ssd' }, tolerations, affinity: { nodeAffinity } });
    expect(spec.securityContext).toEqual({ runAsUser: 9000, fsGroup: 9000 });
    expect(spec.containers[0].resources).toEqual({
      requests: { cpu: '500m', memory: '1Gi' },
      limits: { cpu: '2', memory: '4Gi' },
    });
    const [claim] = only(rendered, 'StatefulSet').spec.volumeClaimTemplates;
    expect(claim.spec).toMatchObject({
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'fast',
      resources: { requests: { storage: '20Gi' } },
    });
    expect(JSON.stringify(spec)).toContain('--cluster-domain=example.internal');
    expect(only(rendered, 'EtcdCluster').spec.paused).toBeUndefined();
    const text = (line: string) => line.replace('EtcdCluster orders (document 1): ', '');
    expect(rendered.lines.map(text)).toEqual(
      expect.arrayContaining([
        'not carried over: spec.paused: a new cluster that is paused would never start; remove it',
        'not carried over: metadata.annotations: etcd.database.coreos.com/scope: add them after rendering if you need them',
        'not carried over: spec.pod.affinity.podAntiAffinity: the members are spread over zones and nodes instead; write spec.spread of the new EtcdCluster',
        'note: spec.pod.antiAffinity: becomes a spread over nodes, which puts two members on one node only if there are fewer nodes than members',
        'note: spec.pod.securityContext: replaces that of the members, which is user 65532 under the restricted Pod Security Standard; prefer to remove it',
        'not carried over: spec.pod.busyboxImage: the pods do not use busybox; remove it',
        'not carried over: spec.pod.DNSTimeoutInSecond: the pods have no timeout for DNS; remove it',
        'not carried over: spec.pod.frobnicate: is not a field of that API; remove it',
        'note: spec.pod.resources.limits.cpu: throttles a busy member, and the cluster then elects another leader; prefer no CPU limit',
        'not carried over: spec.pod.resources.limits.nvidia.com/gpu: only CPU and memory of a member can be set; remove it',
        'note: spec.pod.persistentVolumeClaimSpec.accessModes: becomes ReadWriteOnce, because the volume of a member is never shared',
        'not carried over: spec.pod.persistentVolumeClaimSpec.volumeMode: each member gets a new volume of the storage class; remove it',
        'not carried over: spec.pod.persistentVolumeClaimSpec.resources.limits: a limit has no effect on a volume; remove it',
      ]),
    );
    expect(rendered.lines).toHaveLength(17);
  });

  test.each<[string, Manifest[], string, string[]]>([
    ['is large enough', [], '4Gi', []],
    [
      'is too small',
      [],
      '1Gi',
      [
        'note: 1Gi is too small for etcd, which needs at least 2Gi, and at least twice the quota plus 1Gi; it becomes 2Gi',
      ],
    ],
    [
      'is too small for the quota',
      [{ name: 'ETCD_QUOTA_BACKEND_BYTES', value: '4294967296' }],
      '8000M',
      [
        'note: 8000M is too small for etcd, which needs at least 2Gi, and at least twice the quota plus 1Gi; it becomes 9Gi',
      ],
    ],
  ])('whose volume %s', (_, etcdEnv, storage, lines) => {
    const claim = { resources: { requests: { storage } } };
    const rendered = rendering([cluster({ pod: { etcdEnv, persistentVolumeClaimSpec: claim } })]);
    const field = 'spec.pod.persistentVolumeClaimSpec.resources.requests.storage';
    expect(about(rendered, field)).toEqual(lines);
    const size = only(rendered, 'EtcdCluster').spec.storage.size;
    expect(size).toBe(/becomes (.*)/.exec(lines[0] ?? '')?.[1] ?? storage);
  });

  test.each<[Manifest, Manifest, string[]]>([
    [
      { limits: { memory: '200Mi' } },
      { requests: { cpu: '250m', memory: '896Mi' }, limits: { memory: '896Mi' } },
      ['200Mi, is below a quarter of the quota of the database, 3584Mi; it becomes 896Mi'],
    ],
    [
      { requests: { memory: '200Mi' } },
      { requests: { cpu: '250m', memory: '200Mi' }, limits: { memory: '896Mi' } },
      ['200Mi, is below a quarter of the quota of the database, 3584Mi; it becomes 896Mi'],
    ],
    [{ limits: { memory: '896Mi' } }, { limits: { memory: '896Mi' } }, []],
  ])('with memory %j', (resources, wanted, texts) => {
    const rendered = rendering([cluster({ pod: { resources } })]);
    expect(etcdOf(rendered).resources).toMatchObject(wanted);
    expect(about(rendered, 'spec.pod.resources')).toEqual(
      texts.map((text) => `note: the limit of memory, ${text}; to keep it, lower ETCD_QUOTA_BACKEND_BYTES in etcdEnv`),
    );
  });

  test('with a quota for which the default memory is too little', () => {
    const etcdEnv = [{ name: 'ETCD_QUOTA_BACKEND_BYTES', value: String(16 * 2 ** 30) }];
    const rendered = rendering([cluster({ pod: { etcdEnv } })]);
    expect(etcdOf(rendered).resources.limits).toEqual({ memory: '4Gi' });
    expect(about(rendered, 'spec.pod.resources')).toEqual([expect.stringContaining('the limit of memory, 2Gi, is')]);
  });

  test('with settings of etcd', () => {
    const rendered = rendering([
      cluster({
        pod: {
          etcdEnv: [
            { name: 'ETCD_MAX_REQUEST_BYTES', value: '10485760' },
            { name: 'ETCD_LOG_LEVEL', value: 'debug' },
            { name: 'ETCD_PRE_VOTE', value: 'true' },
            { name: 'ETCD_HEARTBEAT_INTERVAL', value: '200' },
            { name: 'ETCD_ELECTION_TIMEOUT', value: '2000' },
            { name: 'ETCD_DATA_DIR', value: '/x' },
            { name: 'ETCD_ENABLE_V2', value: 'true' },
            { name: 'ETCD_FROBNICATE', value: 'true' },
            { name: 'ETCD_MAX_TXN_OPS', value: 'hunter2' },
            { name: 'ETCD_LOG_OUTPUTS', value: 'stderr' },
            { name: 'HTTP_PROXY', value: 'hunter2' },
            { name: 'GOMAXPROCS', value: '2' },
            { name: 'ETCD_METRICS', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } },
          ],
        },
      }),
    ]);
    const settings = rendered.manifests.find(({ metadata }) => metadata.name === 'orders-settings');
    expect(JSON.parse(settings.data['settings.json'])).toMatchObject({
      'max-request-bytes': 10485760,
      'log-level': 'debug',
      'pre-vote': true,
      'heartbeat-interval': 200,
      'election-timeout': 2000,
    });
    expect(rendered.lines.filter((line) => line.includes('etcdEnv')).map((line) => line.split('etcdEnv')[1])).toEqual([
      '[5]: ETCD_DATA_DIR: is set by the agent; remove it',
      '[6]: ETCD_ENABLE_V2: cannot be set, because the v2 API no longer exists; remove it',
      '[7]: ETCD_FROBNICATE: etcd 3.5 has no such setting; remove it',
      '[8]: ETCD_MAX_TXN_OPS: etcd 3.5 does not accept its value; correct it',
      '[9]: ETCD_LOG_OUTPUTS: is not a plain value; write it into spec.settings of the new EtcdCluster',
      '[12]: ETCD_METRICS: settings cannot come from a Secret or ConfigMap; remove it',
      '[10]: HTTP_PROXY: etcd would connect to the other members through the proxy; write it into spec.containers.agent.env of the new EtcdCluster',
    ]);
    expect(JSON.stringify(rendered)).not.toContain('hunter2');
    const { containers } = only(rendered, 'StatefulSet').spec.template.spec;
    expect(containers[0].env).toContainEqual({ name: 'GOMAXPROCS', value: '2' });
  });

  test.each<[Record<string, string>, Manifest, string[]]>([
    [{ RETENTION: '2' }, { mode: 'periodic', retention: '2h' }, []],
    [{ RETENTION: '90m', MODE: 'periodic' }, { mode: 'periodic', retention: '90m' }, []],
    [{ RETENTION: '1000', MODE: 'revision' }, { mode: 'revision', retention: '1000' }, []],
    [{ RETENTION: '0' }, { mode: 'periodic', retention: '0' }, []],
    [
      { RETENTION: 'soon' },
      { mode: 'periodic', retention: '1h' },
      [
        'not carried over: ETCD_AUTO_COMPACTION_RETENTION: etcd does not accept its value in this mode; history older than an hour is compacted',
      ],
    ],
  ])('with auto-compaction %j', (given, { mode, retention }, lines) => {
    const etcdEnv = Object.entries(given).map(([name, value]) => ({ name: `ETCD_AUTO_COMPACTION_${name}`, value }));
    const rendered = rendering([cluster({ pod: { etcdEnv } })]);
    const settings = rendered.manifests.find(({ metadata }) => metadata.name === 'orders-settings');
    expect(JSON.parse(settings.data['settings.json'])).toMatchObject({
      'auto-compaction-mode': mode,
      'auto-compaction-retention': retention,
    });
    expect(about(rendered, 'spec.pod.etcdEnv')).toEqual(lines);
  });

  test('with TLS', () => {
    const member = { peerSecret: 'peer', serverSecret: 'server' };
    const full = rendering([cluster({ TLS: { static: { member, operatorSecret: 'client' } } })], { namespace: 'shop' });
    expect(only(full, 'EtcdCluster').spec).toMatchObject({ tls: { clientSecret: 'orders-client-tls' } });
    expect(about(full, 'spec.TLS.static')).toEqual([
      'not carried over: the old Secrets have other keys, and their certificates are for names that the new members do not have; create the Secrets orders-peer-tls, orders-server-tls and orders-client-tls, each with ca.crt, tls.crt and tls.key, for the names that docs/clusters/tls.md#with-your-own-secrets lists',
    ]);
    const half = (secrets: Manifest) => about(rendering([cluster({ TLS: { static: secrets } })]), 'spec.TLS.static')[1];
    expect(half({ member: { peerSecret: 'peer' } })).toBe(
      'note: had TLS between the members, but not for clients; it becomes TLS for both',
    );
    expect(half({ member: { serverSecret: 'server' }, operatorSecret: 'client' })).toBe(
      'note: had TLS for clients, but not between the members; it becomes TLS for both',
    );
    expect(only(rendering([cluster({ TLS: {} })]), 'EtcdCluster').spec.tls).toBeUndefined();
  });
});

describe('a backup', () => {
  test('is one plain snapshot', () => {
    const rendered = rendering([backup({ backupPolicy: { timeoutInSecond: 120 } })], { reconciler: false });
    expect(rendered.manifests.map(({ spec }) => spec)).toEqual([
      {
        endpoints: etcdEndpoints,
        store: storeOf(),
        key: 'etcd/orders.db',
        compression: 'none',
        timeouts: { total: '2m' },
      },
    ]);
    expect(rendered.lines).toEqual([
      'note: EtcdBackup orders (document 1): spec: is one plain snapshot under exactly this key; if the key already exists, the backup is refused and nothing is overwritten, so give each backup its own key',
      'note: EtcdBackup orders (document 1): spec.etcdEndpoints: still belong to the old cluster; to back up an EtcdCluster, write spec.clusterName',
    ]);
  });

  test('of an etcd with TLS', () => {
    const object = backup({ etcdEndpoints: ['https://orders-client:2379'], clientTLSSecret: 'client' });
    expect(only(rendering([object]), 'EtcdBackup').spec.tls).toEqual({
      files: {
        secretName: 'client',
        items: [
          { key: 'etcd-client-ca.crt', path: 'ca.crt' },
          { key: 'etcd-client.crt', path: 'tls.crt' },
          { key: 'etcd-client.key', path: 'tls.key' },
        ],
      },
    });
  });

  test.each<[string, Manifest, Manifest, string[]]>([
    ['of AWS', { forcePathStyle: false }, {}, []],
    ['of AWS, by path', { forcePathStyle: true }, { pathStyle: true }, []],
    ['by path', { endpoint: 'minio:9000', forcePathStyle: true }, { endpoint: 'minio:9000', pathStyle: true }, []],
    [
      'by host',
      { endpoint: 'http://minio:9000' },
      { endpoint: 'http://minio:9000', pathStyle: false },
      ['note: is not true, so the bucket is reached as backups.minio:9000, as with that operator'],
    ],
  ])('to a bucket %s', (_, given, wanted, lines) => {
    const rendered = rendering([backup({ s3: { ...s3, ...given } })]);
    expect(only(rendered, 'EtcdBackup').spec.store.s3).toEqual({ ...storeOf().s3, ...wanted });
    expect(about(rendered, 'spec.s3.forcePathStyle')).toEqual(lines);
  });

  test('to OSS', () => {
    const oss = { path: 'backups/a.db', ossSecret: 'ali', endpoint: 'http://oss-cn-beijing.aliyuncs.com' };
    const rendered = rendering([backup({ storageType: 'OSS', oss })]);
    expect(only(rendered, 'EtcdBackup').spec).toMatchObject({
      key: 'a.db',
      store: { oss: { bucket: 'backups', endpoint: oss.endpoint, credentials: { secretName: 'ali' } } },
    });
    expect(about(rendered, 'spec.s3')).toEqual([
      'not carried over: has no effect, because storageType is OSS; remove it',
    ]);
  });

  test('beside which a count is of no use', () => {
    expect(about(rendering([backup({ backupPolicy: { maxBackups: 3 } })]), 'spec.backupPolicy.maxBackups')).toEqual([
      'not carried over: has an effect only with backupIntervalInSecond; remove it',
    ]);
  });
});

describe('a backup every so often', () => {
  test('of any etcd is a CronJob', () => {
    const rendered = rendering([periodic({ maxBackups: 4, timeoutInSecond: 300 }, { labels: { team: 'shop' } })]);
    expect(rendered.manifests.map(({ kind }) => kind)).toEqual(['ServiceAccount', 'CronJob']);
    const { spec, metadata } = only(rendered, 'CronJob');
    expect(metadata).toMatchObject({ name: 'orders-backup', labels: { team: 'shop' } });
    expect(spec.schedule).toBe('0 * * * *');
    const args: string[] = spec.jobTemplate.spec.template.spec.containers[0].args;
    expect(args).toEqual(expect.arrayContaining(['--cluster=orders', '--timeout=5m']));
    const store = JSON.parse(args.find((argument) => argument.startsWith('--store='))!.slice('--store='.length));
    expect(store).toMatchObject({ s3: { bucket: 'backups', prefix: 'etcd' }, retention: { last: 4 } });
    expect(rendered.lines).toEqual([
      'note: EtcdBackup orders (document 1): spec: becomes a CronJob, whose backups have other object names; the old backups are kept, so delete them by hand when you no longer need them',
    ]);
  });

  test.each<[number, string, string[]]>([
    [60, '* * * * *', []],
    [30, '* * * * *', ['note: cron cannot express an even interval of 30 s; it becomes 1 min']],
    [125, '*/2 * * * *', ['note: cron cannot express an even interval of 125 s; it becomes 2 min']],
    [600, '*/10 * * * *', []],
    [3600, '0 * * * *', []],
    [5400, '0 * * * *', ['note: cron cannot express an even interval of 5400 s; it becomes 1 h']],
    [21_600, '0 */6 * * *', []],
    [86_400, '0 0 * * *', []],
    [172_800, '0 0 * * *', ['note: cron cannot express an even interval of 172800 s; it becomes 1 day']],
    [604_800, '0 0 * * 0', []],
  ])('each %d s', (seconds, cron, lines) => {
    const rendered = rendering([periodic({ backupIntervalInSecond: seconds })]);
    expect(only(rendered, 'CronJob').spec.schedule).toBe(cron);
    expect(about(rendered, 'spec.backupPolicy.backupIntervalInSecond')).toEqual(lines);
  });

  test('that keeps everything', () => {
    const [container] = only(rendering([periodic({ maxBackups: 0 })]), 'CronJob').spec.jobTemplate.spec.template.spec
      .containers;
    expect(container.args.join(' ')).not.toContain('retention');
  });

  test.each([
    ['orders-nightly', 'nightly', 'orders-nightly'],
    ['orders', 'backup', 'orders-backup'],
    ['all', 'all', 'orders-all'],
  ])('called %s, of a cluster of the same file, is a schedule of the new one', (name, id, cronJob) => {
    const rendered = rendering([periodic({}, { name }), cluster()]);
    expect(only(rendered, 'CronJob').metadata.name).toBe(cronJob);
    const [container] = only(rendered, 'CronJob').spec.jobTemplate.spec.template.spec.containers;
    expect(container.args.join(' ')).toContain('http://orders-0-client:2379');
    expect(only(rendered, 'EtcdCluster').spec.backup).toEqual({
      schedule: id,
      schedules: [{ name: id, cron: '0 * * * *', stores: [storeOf({ prefix: 'etcd' })] }],
    });
    expect(about(rendered, 'spec.etcdEndpoints')).toEqual([
      "note: belong to the old 'orders', but the schedule backs up the new cluster; keep the old schedule until the new cluster serves",
    ]);
  });

  test.each([
    ['http://orders-client:2379', true],
    ['http://orders-client.shop:2379', true],
    ['https://orders-client.shop.svc.cluster.local:2379', true],
    ['orders-x7k2p.orders.shop.svc:2379', true],
    ['http://orders-client.other:2379', false],
    ['http://orders-2-client:2379', false],
  ])('of %s belongs to the cluster: %s', (endpoint, belongs) => {
    const metadata = { namespace: 'shop' };
    const object = periodic({}, metadata);
    object.spec.etcdEndpoints = [endpoint];
    if (endpoint.startsWith('https')) object.spec.clientTLSSecret = 'client';
    const rendered = rendering([cluster({}, metadata), object]);
    expect(only(rendered, 'EtcdCluster').spec.backup !== undefined).toBe(belongs);
  });

  test('twice for one cluster', () => {
    const rendered = rendering([cluster(), periodic({}), periodic({}, { name: 'orders-backup' })]);
    const { schedules } = only(rendered, 'EtcdCluster').spec.backup;
    expect(schedules.map(({ name }: Manifest) => name)).toEqual(['backup', 'backup-2']);
  });

  test.each<[string, Manifest[], string[]]>([
    [
      'two whose names lead to one, and one that has it',
      [cluster(), ...['orders', 'backup', 'backup-2', 'orders-backup'].map((name) => periodic({}, { name }))],
      ['backup', 'backup-2', 'backup-2-2', 'backup-3'],
    ],
    [
      'one beside the backups that the cluster itself has',
      [
        cluster({ backup: { storageType: 'S3', s3: { s3Bucket: 'backups', awsSecret: 'aws' } } }),
        ...['orders', 'backup'].map((name) => periodic({}, { name })),
      ],
      ['backup', 'backup-2', 'backup-3'],
    ],
  ])('each has a name of its own: %s', (_, objects, names) => {
    const { schedules } = only(rendering(objects), 'EtcdCluster').spec.backup;
    expect(schedules.map(({ name }: Manifest) => name)).toEqual(names);
  });

  test('of no cluster of the file: no two lead to one name', () => {
    expect(errorsOf([periodic(), periodic({}, { name: 'orders-backup' })])).toEqual([
      "error: EtcdBackup orders-backup (document 2): metadata.name: makes a CronJob 'orders-backup', as EtcdBackup orders (document 1) does; rename one of them",
    ]);
  });

  test('its mistakes are reported for its own document', () => {
    const object = periodic({}, { name: 'o'.repeat(50) });
    expect(errorsOf([cluster(), object])[0]).toMatch(/^error: EtcdBackup o+ \(document 2\): metadata.name: /);
  });
});

describe('a restore', () => {
  const source = { store: storeOf(), key: 'etcd/orders.db' };

  test('of a cluster of the same file is what that begins with', () => {
    const rendered = rendering([cluster(), restore()]);
    expect(rendered.manifests.filter(({ kind }) => kind === 'EtcdRestore')).toEqual([]);
    expect(only(rendered, 'EtcdCluster').spec.origin).toEqual({ source });
    expect(about(rendered, 'spec.etcdCluster.name')).toEqual([
      "note: 'orders' is a new cluster, so it starts with this snapshot as its spec.origin, and there is no EtcdRestore; for an empty cluster remove this document",
    ]);
    expect(about(rendered, 'spec')).toEqual([]);
  });

  test('of another cluster is done in place', () => {
    const rendered = rendering([restore({}, { labels: { team: 'shop' } })]);
    expect(rendered.manifests).toMatchObject([
      {
        kind: 'EtcdRestore',
        metadata: { name: 'orders', labels: { team: 'shop' } },
        spec: { clusterName: 'orders', source },
      },
    ]);
    expect(rendered.lines).toEqual([
      "note: EtcdRestore orders (document 1): spec.etcdCluster.name: 'orders' is not a cluster in this file, so the snapshot replaces all data of the EtcdCluster with this name, after a backup with its first backup schedule; to start a new cluster from the snapshot instead, add the old EtcdCluster to this file",
      'note: EtcdRestore orders (document 1): metadata.name: a restore happens once per name; use another name for another restore',
    ]);
  });

  test('of a cluster in another namespace, or of our own, is done in place, too', () => {
    const elsewhere = rendering([cluster({}, { namespace: 'a' }), restore({}, { namespace: 'b' })]);
    only(elsewhere, 'EtcdRestore');
    const backup = { schedules: [{ name: 'hourly', cron: '@hourly', stores: [storeOf()] }] };
    const own = { ...cluster({ backup }), apiVersion: 'cdk8s-etcd.dev/v1alpha1' };
    only(rendering([own, restore()]), 'EtcdRestore');
  });

  test('comes once per cluster', () => {
    expect(errorsOf([cluster(), restore(), restore({}, { name: 'other' })])).toEqual([
      "error: EtcdRestore other (document 3): spec.etcdCluster.name: 'orders' already starts with the snapshot of EtcdRestore orders (document 2); remove one of them",
    ]);
  });
});

describe('in another namespace', () => {
  const secrets = 'note: is now new; the Secrets of the EtcdBackup must exist there too';
  const endpointNote = (endpoint: string, namespace: string) =>
    `note: is now new, where the endpoint ${endpoint} may refer to another host; write the host as NAME.${namespace}.svc`;

  test.each([
    ['http://orders-client:2379', 'shop', [secrets, endpointNote('http://orders-client:2379', 'shop')]],
    ['orders-0.orders:2379', 'shop', [secrets, endpointNote('orders-0.orders:2379', 'shop')]],
    ['http://orders-client:2379', undefined, []],
    ['http://orders-client.shop.svc:2379', 'shop', [secrets]],
    ['http://orders-client.shop.svc.cluster.local:2379', 'shop', [secrets]],
    ['http://etcd.example.com:2379', 'shop', [secrets]],
    ['http://10.0.0.1:2379', 'shop', [secrets]],
    ['http://[fd00::1]:2379', 'shop', [secrets]],
    ['http://orders-client:2379', 'new', []],
  ])('%s of namespace %s', (endpoint, namespace, lines) => {
    const object = backup({ etcdEndpoints: [endpoint] }, { namespace });
    expect(about(rendering([object], { namespace: 'new' }), 'metadata.namespace')).toEqual(lines);
  });

  test('what a cluster takes along needs its Secrets, not its old endpoints', () => {
    const metadata = { namespace: 'shop' };
    const objects = [cluster({}, metadata), periodic({}, metadata), restore({}, metadata)];
    expect(about(rendering(objects, { namespace: 'new' }), 'metadata.namespace')).toEqual([
      secrets,
      secrets.replace('EtcdBackup', 'EtcdRestore'),
    ]);
  });
});

describe('errors', () => {
  test.each<[string, Manifest, string]>([
    [
      'a version of later',
      cluster({ version: '3.9.0' }),
      'spec.version: is not a known version of etcd; write it like 3.6.16, with 3.5, 3.6 or 3.7',
    ],
    [
      'a version of etcd 2',
      cluster({ version: '2.3.8' }),
      'spec.version: is not a known version of etcd; write it like 3.6.16, with 3.5, 3.6 or 3.7',
    ],
    ['too many members', cluster({ size: 9 }), 'spec.size: '],
    ['a label', cluster({ pod: { labels: { tier: 'a b' } } }), "spec.pod.labels.tier: 'a b' is not"],
    ['a label of its own', backup({}, { labels: { tier: 'a b' } }), 'metadata.labels'],
    ['a label of a schedule', periodic({}, { labels: { tier: 'a b' } }), "metadata.labels.tier: 'a b' is not"],
    [
      'a StorageClass',
      cluster({ pod: { persistentVolumeClaimSpec: { storageClassName: 'A' } } }),
      'spec.pod.persistent',
    ],
    [
      'an election timeout',
      cluster({ pod: { etcdEnv: [{ name: 'ETCD_ELECTION_TIMEOUT', value: '200' }] } }),
      'spec.pod.etcdEnv: ETCD_ELECTION_TIMEOUT: must be at least five times',
    ],
    ['a repository', cluster({ repository: 'a b' }), 'spec.repository: '],

    [
      'no size of a volume',
      cluster({ pod: { persistentVolumeClaimSpec: { resources: { requests: { storage: 'big' } } } } }),
      "spec.pod.persistentVolumeClaimSpec.resources.requests.storage: 'big' is not a valid size of a volume; write it like 8Gi",
    ],
    [
      'a variable without a value of Kubernetes',
      cluster({ pod: { etcdEnv: [{ name: 'GOMAXPROCS', value: 1 }] } }),
      'spec.pod.etcdEnv: ',
    ],
    [
      'a variable without a name',
      cluster({ pod: { etcdEnv: [{ name: 1 }] } }),
      'spec.pod.etcdEnv[0].name: is a number',
    ],
    [
      'no memory',
      cluster({ pod: { resources: { limits: { memory: 'big' } } } }),
      "spec.pod.resources.limits.memory: 'big' is not a valid amount of memory; write it like 2Gi",
    ],
    ['no kind of store', backup({ storageType: undefined }), 'spec.storageType: is missing; write S3 or OSS'],
    [
      'another kind of store',
      backup({ storageType: 's3' }),
      'spec.storageType: is not one of S3, ABS, GCS, OSS; write one of these',
    ],
    [
      'Azure',
      backup({ storageType: 'ABS', s3: undefined, abs: { path: 'a/b', absSecret: 'c' } }),
      'spec.storageType: ABS: Azure Blob Storage is not supported; use S3, OSS, SFTP, a volume, or a command of your own',
    ],
    [
      'Google',
      restore({ backupStorageType: 'GCS', s3: undefined, gcs: { path: 'a/b' } }),
      'spec.backupStorageType: GCS: Google Cloud Storage is not supported; use its S3 API, with S3 and an HMAC key, or another store',
    ],
    ['no store', backup({ s3: undefined }), 'spec.s3: is missing, but storageType is S3; add it'],
    ['no path', backup({ s3: { awsSecret: 'aws' } }), 'spec.s3.path: is missing; add it'],
    [
      'no object',
      backup({ s3: { ...s3, path: 'backups' } }),
      'spec.s3.path: is not the path of an object in a bucket; write it like BUCKET/etcd/orders.db',
    ],
    ['no Secret', backup({ s3: { path: s3.path } }), 'spec.s3.awsSecret: is missing; add it'],
    ['a bucket', backup({ s3: { ...s3, path: 'A/etcd/orders.db' } }), "spec.s3.path: 'A' is not a valid bucket name"],
    ['a key', backup({ s3: { ...s3, path: 'backups/a//b' } }), "spec.s3.path: 'a//b' is not a valid key"],
    [
      'a key of OSS',
      backup({ storageType: 'OSS', s3: undefined, oss: { path: 'backups/a//b', ossSecret: 'ali' } }),
      "spec.oss.path: 'a//b' is not a valid key",
    ],
    ['a Secret', backup({ s3: { ...s3, awsSecret: 'A' } }), "spec.s3.awsSecret: 'A' is not a valid name of a Secret"],
    ['a server', backup({ s3: { ...s3, endpoint: 'http://a/b' } }), 'spec.s3.endpoint: '],
    [
      'a Secret of TLS',
      backup({ etcdEndpoints: ['https://orders-client:2379'], clientTLSSecret: 'A' }),
      "spec.clientTLSSecret: 'A' is not a valid name of a Secret",
    ],
    [
      'a bucket of a schedule',
      { ...periodic(), spec: { ...periodic().spec, s3: { ...s3, path: 'A/etcd/orders.db' } } },
      "spec.s3.path: 'A' is not a valid bucket name",
    ],
    ['a time of a schedule', periodic({ timeoutInSecond: 21_600 }), 'spec.backupPolicy.timeoutInSecond: '],
    [
      'a bucket of a restore',
      restore({ s3: { ...s3, path: 'A/etcd/orders.db' } }),
      "spec.s3.path: 'A' is not a valid bucket name",
    ],
    ['a key of a restore', restore({ s3: { ...s3, path: 'backups/a//b' } }), "spec.s3.path: 'a//b' is not a valid key"],
    ['a name of a cluster', restore({ etcdCluster: { name: 'A' } }), "spec.etcdCluster.name: 'A' is not a valid"],
    [
      'a bucket of its own backups',
      cluster({ backup: { storageType: 'S3', s3: { s3Bucket: 'A', awsSecret: 'aws' } } }),
      "spec.backup.s3.s3Bucket: 'A' is not a valid bucket name",
    ],
    ['no endpoints', backup({ etcdEndpoints: undefined }), 'spec.etcdEndpoints: is empty: give at least 1 item'],
    [
      'http with TLS',
      backup({ clientTLSSecret: 'client' }),
      'spec.etcdEndpoints: an endpoint is plain http, but tls is given: write https://, or remove tls',
    ],
    ['no cluster', restore({ etcdCluster: undefined }), 'spec.etcdCluster: is missing; give its name'],
  ])('%s', (_, object, text) => {
    expect(errorsOf([object])).toEqual([expect.stringContaining(`error: ${object.kind} orders (document 1): ${text}`)]);
  });
});
