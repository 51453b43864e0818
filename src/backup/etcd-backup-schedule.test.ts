import { App, Chart, Cron, Duration, Size, Testing, Yaml } from 'cdk8s';
import {
  argumentsOf,
  cronJobOf,
  type Manifest,
  manifestsOf,
  podOf,
  s3,
  schedule,
  storesOf,
  valid,
} from '../../test/synth';
import {
  BackupStore,
  CaBundle,
  Compression,
  Encryption,
  EtcdAuth,
  EtcdBackupSchedule,
  EtcdClientTls,
  EtcdCluster,
  ImagePullPolicy,
  Retention,
  S3Credentials,
  VerificationLevel,
} from '..';
import { backupArguments, backupPod } from '../lib/backup-pod';
import { encryptionProblems } from './encryption';

test('the least that can be given makes a CronJob and its ServiceAccount', () => {
  // GIVEN nothing but what is required
  const backup = schedule();
  // WHEN
  const [serviceAccount, cronJob] = manifestsOf(backup);
  // THEN
  expect(backup.cronJobName).toBe('orders-nightly');
  expect(serviceAccount).toMatchObject({
    kind: 'ServiceAccount',
    metadata: { name: 'orders-nightly' },
    automountServiceAccountToken: false,
  });
  expect(cronJob).toMatchObject({
    kind: 'CronJob',
    metadata: { name: 'orders-nightly', labels: { 'app.kubernetes.io/instance': 'orders-nightly' } },
    spec: {
      schedule: '0 * * * *',
      concurrencyPolicy: 'Forbid',
      startingDeadlineSeconds: 3600,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 3,
      jobTemplate: { spec: { backoffLimit: 3, activeDeadlineSeconds: 21_600 } },
    },
  });
  expect(cronJob.spec).not.toHaveProperty('timeZone');
  expect(cronJob.spec).not.toHaveProperty('suspend');
});

test('the pod is small, may do nothing, and leaves the defaults to the agent', () => {
  const pod = podOf(schedule());
  const [container] = pod.containers;
  expect(pod).toMatchObject({
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 60,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    serviceAccountName: 'orders-nightly',
    securityContext: { runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532, fsGroupChangePolicy: 'OnRootMismatch' },
  });
  expect(container).toMatchObject({
    name: 'backup',
    resources: { requests: { cpu: '100m', memory: '100Mi' }, limits: { cpu: '100m', memory: '100Mi' } },
    securityContext: { readOnlyRootFilesystem: true },
    terminationMessagePolicy: 'FallbackToLogsOnError',
    env: [
      {
        name: 'ETCD_AGENT_NAMESPACE',
        valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } },
      },
    ],
  });
  expect(container).not.toHaveProperty('command');
  expect(pod.volumes).toContainEqual({ name: 'tmp', emptyDir: {} });
  expect(container.args).toEqual([
    'backup',
    '--cluster=orders',
    '--endpoints=http://etcd:2379',
    '--trigger=schedule',
    '--output=json',
    '--store={"s3":{"bucket":"backups","region":"eu-west-1","credentialsDirectory":"/etc/etcd-agent/stores/0/credentials"}}',
  ]);
});

test('the agent gets every recipient of the encryption, and no secret is mounted', () => {
  const recipients = [
    'age123z0dujas5ltpxxq72m3uqn9x0xwrfls84nga7pfe466w9tsdc0s7rthxh',
    'age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj',
  ];
  const backup = schedule({ encryption: Encryption.age({ recipients }) });
  expect(argumentsOf(backup).filter((argument) => argument.startsWith('--age'))).toEqual(
    recipients.map((recipient) => `--age-recipient=${recipient}`),
  );
  expect(podOf(backup).volumes).toEqual(podOf(schedule()).volumes);
});

test('the exit code decides whether a Job fails at once, is tried again, or is not counted', () => {
  const { podFailurePolicy } = cronJobOf(schedule()).spec.jobTemplate.spec;
  const onExitCodes = (values: number[]) => ({ containerName: 'backup', operator: 'In', values });
  expect(podFailurePolicy.rules).toEqual([
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    { action: 'Ignore', onExitCodes: onExitCodes([143]) },
    { action: 'FailJob', onExitCodes: onExitCodes([2, 3, 11, 21, 30, 40]) },
  ]);
});

test('every property reaches its field or flag', () => {
  const backup = schedule({
    name: 'custom',
    timeZone: 'Europe/Berlin',
    suspend: true,
    startingDeadline: Duration.minutes(5),
    activeDeadline: Duration.hours(2),
    timeout: Duration.minutes(90),
    dialTimeout: Duration.millis(1500),
    retries: 0,
    successfulJobsHistoryLimit: 0,
    failedJobsHistoryLimit: 1,
    compression: Compression.GZIP,
    verify: VerificationLevel.OPEN,
    image: 'registry.example.com/agent:1',
    imagePullPolicy: ImagePullPolicy.ALWAYS,
    imagePullSecrets: ['registry'],
    nodeSelector: { 'node-role.kubernetes.io/control-plane': '' },
    tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' }],
    priorityClassName: 'system-cluster-critical',
    labels: { team: 'storage' },
  });
  const cronJob = cronJobOf(backup);
  const pod = podOf(backup);
  expect(cronJob).toMatchObject({
    metadata: { name: 'custom', labels: { team: 'storage', 'app.kubernetes.io/part-of': 'orders' } },
    spec: {
      timeZone: 'Europe/Berlin',
      suspend: true,
      startingDeadlineSeconds: 300,
      successfulJobsHistoryLimit: 0,
      failedJobsHistoryLimit: 1,
      jobTemplate: {
        metadata: { labels: { team: 'storage' } },
        spec: { backoffLimit: 0, activeDeadlineSeconds: 7200, template: { metadata: { labels: { team: 'storage' } } } },
      },
    },
  });
  expect(pod).toMatchObject({
    imagePullSecrets: [{ name: 'registry' }],
    nodeSelector: { 'node-role.kubernetes.io/control-plane': '' },
    tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' }],
    priorityClassName: 'system-cluster-critical',
    containers: [{ image: 'registry.example.com/agent:1', imagePullPolicy: 'Always' }],
  });
  expect(argumentsOf(backup)).toEqual(
    expect.arrayContaining(['--dial-timeout=1500ms', '--timeout=90m', '--compression=gzip', '--verify=open']),
  );
});

test('a client certificate and a user come from Secrets, whatever their keys are called', () => {
  const backup = schedule({
    endpoints: ['etcd-0:2379', 'https://etcd-1:2379', '[fd00::1]:2379'],
    tls: EtcdClientTls.fromSecret('client', { caKey: 'ca.pem', certKey: 'cert.pem', keyKey: 'key.pem' }),
    auth: EtcdAuth.fromSecret('user', { usernameKey: 'name', passwordKey: 'pass' }),
  });
  expect(argumentsOf(backup)).toEqual(
    expect.arrayContaining([
      '--endpoints=https://etcd-0:2379,https://etcd-1:2379,https://[fd00::1]:2379',
      '--cacert=/etc/etcd-agent/tls/ca.crt',
      '--cert=/etc/etcd-agent/tls/tls.crt',
      '--key=/etc/etcd-agent/tls/tls.key',
      '--user-file=/etc/etcd-agent/auth/username',
      '--password-file=/etc/etcd-agent/auth/password',
    ]),
  );
  expect(podOf(backup).volumes.slice(0, 2)).toEqual([
    {
      name: 'tls',
      projected: {
        defaultMode: 0o440,
        sources: [
          {
            secret: {
              name: 'client',
              items: [
                { key: 'ca.pem', path: 'ca.crt' },
                { key: 'cert.pem', path: 'tls.crt' },
                { key: 'key.pem', path: 'tls.key' },
              ],
            },
          },
          { secret: { name: 'client', items: [{ key: 'ca.crl', path: 'ca.crl' }], optional: true } },
        ],
      },
    },
    {
      name: 'auth',
      secret: {
        secretName: 'user',
        defaultMode: 0o440,
        items: [
          { key: 'name', path: 'username' },
          { key: 'pass', path: 'password' },
        ],
      },
    },
  ]);
  expect(podOf(backup).containers[0].volumeMounts[0]).toEqual({
    name: 'tls',
    mountPath: '/etc/etcd-agent/tls',
    readOnly: true,
  });
});

test('TLS without a client certificate needs the authority alone', () => {
  const tls = EtcdClientTls.fromCa(CaBundle.fromConfigMap('trust', 'bundle.pem'));
  const backup = schedule({ endpoints: ['etcd:2379'], tls });
  expect(argumentsOf(backup).filter((argument) => /^--(cacert|cert|key)=/.test(argument))).toEqual([
    '--cacert=/etc/etcd-agent/tls/ca.crt',
  ]);
  expect(podOf(backup).volumes[0]).toEqual({
    name: 'tls',
    configMap: { name: 'trust', defaultMode: 0o440, items: [{ key: 'bundle.pem', path: 'ca.crt' }] },
  });
});

test('stores may be added until synthesis, each with its own retention and place in the pod', () => {
  const backup = schedule({ retention: Retention.last(3) });
  backup.addStore(BackupStore.filesystem({ claimName: 'backups', directory: 'etcd' }));
  backup.addStore(BackupStore.s3({ bucket: 'far-away', credentials: S3Credentials.workloadIdentity() }), {
    retention: Retention.tiers({ within: Duration.days(30), yearly: 2, minKeep: 1, timeZone: 'Asia/Tokyo' }),
  });
  expect(storesOf(backup)).toEqual([
    expect.objectContaining({ retention: { last: 3 } }),
    { filesystem: { path: '/backup/1/etcd' } },
    { s3: { bucket: 'far-away' }, retention: { within: '30d', yearly: 2, minKeep: 1, timeZone: 'Asia/Tokyo' } },
  ]);
  expect(podOf(backup).containers[0].volumeMounts).toEqual([
    { name: 'store-0-credentials', mountPath: '/etc/etcd-agent/stores/0/credentials', readOnly: true },
    { name: 'store-1', mountPath: '/backup/1' },
    { name: 'tmp', mountPath: '/tmp' },
  ]);
});

test('workload identity annotates the ServiceAccount', () => {
  const role = { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::123456789012:role/backup' };
  const credentials = S3Credentials.workloadIdentity({ serviceAccountAnnotations: role });
  const backup = schedule({ store: BackupStore.s3({ bucket: 'backups', credentials }) });
  expect(manifestsOf(backup)[0].metadata.annotations).toEqual(role);
});

test('a ServiceAccount that exists is used as it is', () => {
  const backup = schedule({ serviceAccountName: 'mine' });
  expect(manifestsOf(backup).map(({ kind }) => kind)).toEqual(['CronJob']);
  expect(podOf(backup)).toMatchObject({ serviceAccountName: 'mine', automountServiceAccountToken: false });
});

test('one amount of CPU or memory is request and limit', () => {
  const resources = { cpuLimit: '0.5', memoryRequest: Size.gibibytes(1) };
  expect(podOf(schedule({ resources })).containers[0].resources).toEqual({
    requests: { cpu: '0.5', memory: '1Gi' },
    limits: { cpu: '0.5', memory: '1Gi' },
  });
});

test('the same recipient twice is refused', () => {
  const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
  const problemsOf = (recipients: string[]) => encryptionProblems({ age: { recipients } });
  expect(problemsOf([recipient])).toEqual([]);
  expect(problemsOf([recipient, recipient])).toEqual([expect.stringContaining('is given twice')]);
});

test('a pod that opens the database has memory for the index of its keys', () => {
  const memoryOf = (props: object) => {
    const { requests, limits } = podOf(schedule({ verify: VerificationLevel.OPEN, ...props })).containers[0].resources;
    return [requests.memory, limits.memory];
  };
  expect(memoryOf({})).toEqual(['128Mi', '1Gi']);
  expect(memoryOf({ resources: { cpuLimit: '2' } })).toEqual(['128Mi', '1Gi']);
  expect(memoryOf({ resources: { memoryLimit: Size.gibibytes(4) } })).toEqual(['4Gi', '4Gi']);
});

test('the longest name leaves room for the names of its Jobs', () => {
  const name = 'n'.repeat(52);
  expect(manifestsOf(schedule({ name })).map(({ metadata }) => metadata.name)).toEqual([name, name]);
  // The controller appends the minutes since 1970; a Job's name may have 63 characters.
  expect(`${name}-${Math.floor(Date.now() / 60_000)}`.length).toBeLessThanOrEqual(63);
});

test('the same input gives the same bytes', () => {
  const yaml = () => Yaml.stringify(...manifestsOf(schedule({ tls: EtcdClientTls.fromSecret('client') })));
  expect(yaml()).toBe(yaml());
});

test('names do not change when the construct moves within the tree', () => {
  const app = new App();
  const deep = new Chart(new Chart(app, 'outer'), 'inner');
  const backup = new EtcdBackupSchedule(deep, 'nightly', valid);
  expect(Testing.synth(deep).map(({ metadata }) => metadata.name)).toEqual([backup.cronJobName, backup.cronJobName]);
  expect(cronJobOf(backup)).toEqual(cronJobOf(schedule()));
});

test('a dollar reaches the agent, though Kubernetes expands $(NAME) in arguments', () => {
  const credentials = S3Credentials.fromSecret('s3');
  const store = BackupStore.s3({ bucket: 'backups', prefix: '$(HOME)', credentials });
  expect(argumentsOf(schedule({ store })).at(-1)).toContain('"prefix":"$$(HOME)"');
});

test('the pod and its arguments are plain data from plain data', () => {
  const spec = {
    cluster: 'c',
    endpoints: ['http://e:2379'],
    stores: [{ filesystem: { persistentVolumeClaim: { claimName: 'p' } } }],
    trigger: 'manual',
    image: 'agent',
    serviceAccountName: 'a',
    resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } },
    labels: {},
  };
  expect(JSON.parse(JSON.stringify(backupPod(spec)))).toMatchObject({
    spec: { containers: [{ args: backupArguments(spec) }] },
  });
  expect(backupArguments(spec)).toContain('--trigger=manual');
  expect(backupArguments(spec)).toContain('--store={"filesystem":{"path":"/backup/0"}}');
});

test('cdk8s shorthands of a schedule are taken as they are', () => {
  const crons = [Cron.everyMinute(), Cron.hourly(), Cron.daily(), Cron.weekly(), Cron.monthly(), Cron.annually()];
  expect(crons.map((cron) => cronJobOf(schedule({ schedule: cron, store: s3 })).spec.schedule)).toEqual(
    crons.map((cron) => cron.expressionString),
  );
});

describe('the entry of a schedule in its EtcdCluster', () => {
  const specOf = (cluster: EtcdCluster) =>
    Testing.synth(Chart.of(cluster)).find(({ kind }: Manifest) => kind === 'EtcdCluster').spec.backup;

  test('is where and how its other backups are stored', () => {
    const cluster = new EtcdCluster(new Chart(Testing.app(), 'shop'), 'orders');
    cluster.addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3 });
    expect(specOf(cluster)).toMatchObject({
      schedule: 'nightly',
      schedules: [
        {
          name: 'nightly',
          cron: '0 0 * * *',
          stores: [{ s3: { bucket: 'backups', credentials: { secretName: 's3' } } }],
        },
      ],
    });
  });

  test('has every property that they share, and every store', () => {
    const cluster = new EtcdCluster(new Chart(Testing.app(), 'shop'), 'orders');
    const recipients = ['age123z0dujas5ltpxxq72m3uqn9x0xwrfls84nga7pfe466w9tsdc0s7rthxh'];
    const backup = cluster.addBackupSchedule('nightly', {
      name: 'custom',
      schedule: Cron.daily(),
      timeZone: 'Europe/Berlin',
      store: s3,
      retention: Retention.last(3),
      compression: Compression.GZIP,
      encryption: Encryption.age({ recipients }),
      verify: VerificationLevel.READ,
      dialTimeout: Duration.seconds(10),
      timeout: Duration.minutes(90),
      serviceAccountName: 'mine',
      image: 'registry.example.com/agent:1',
      resources: { cpuRequest: '1', memoryLimit: Size.gibibytes(2) },
    });
    backup.addStore(BackupStore.filesystem({ claimName: 'backups' }));
    expect(specOf(cluster).schedules).toEqual([
      {
        name: 'nightly',
        cronJobName: 'custom',
        cron: '0 0 * * *',
        timeZone: 'Europe/Berlin',
        stores: [
          expect.objectContaining({ retention: { last: 3 } }),
          { filesystem: { persistentVolumeClaim: { claimName: 'backups' } } },
        ],
        compression: 'gzip',
        encryption: { age: { recipients } },
        verify: 'read',
        dialTimeout: '10s',
        timeout: '90m',
        serviceAccountName: 'mine',
        image: 'registry.example.com/agent:1',
        resources: { requests: { cpu: '1' }, limits: { memory: '2Gi' } },
      },
    ]);
  });

  test.each([
    [{ name: 'custom' }, 'Nightly_1', 0, "id: 'Nightly_1' is not a valid Kubernetes name"],
    [{ successfulJobsHistoryLimit: 0 }, 'nightly', 0, 'successfulJobsHistoryLimit: 0 is too small: give at least 1'],
    [{ failedJobsHistoryLimit: 0 }, 'nightly', 0, 'failedJobsHistoryLimit: 0 is too small: give at least 1'],
    [{ retries: 101 }, 'nightly', 0, 'retries: 101 is too large: give at most 100'],
    [
      { schedule: Cron.schedule({ minute: [...Array(60).keys()].join() }) },
      'nightly',
      0,
      'schedule: has 177 characters: give at most 128',
    ],
    [{}, 'nightly', 8, 'store: has 9 items: give at most 8'],
  ])('cannot hold %j', (props, id, more, message) => {
    const cluster = new EtcdCluster(new Chart(Testing.app(), 'shop'), 'orders');
    const backup = cluster.addBackupSchedule(id, { schedule: Cron.daily(), store: s3, ...props });
    for (let index = 0; index < more; index++) backup.addStore(BackupStore.filesystem({ claimName: `claim-${index}` }));
    expect(backup.node.validate()).toEqual([expect.stringContaining(message)]);
  });
});
