import { Chart, Cron, Duration, Size, Testing } from 'cdk8s';
import {
  BackupStore,
  CaBundle,
  type CommandStoreProps,
  Encryption,
  EtcdAuth,
  EtcdBackupSchedule,
  type EtcdBackupScheduleProps,
  EtcdClientTls,
  OssCredentials,
  type OssStoreProps,
  Retention,
  S3Credentials,
  type S3StoreProps,
  ServerSideEncryption,
  SseCustomerKey,
  VerificationLevel,
} from '../../src';
import { agentImage } from '../../src/lib/agent-image';
import { manifestsOf, s3, schedule, valid } from '../synth';

const tls = EtcdClientTls.fromSecret('client');
const credentials = S3Credentials.fromSecret('s3');
const to = (props: Partial<S3StoreProps>) => ({
  store: BackupStore.s3({ bucket: 'backups', region: 'r', credentials, ...props }),
});
const toOss = (props: Partial<OssStoreProps>) => ({
  store: BackupStore.oss({ bucket: 'backups', credentials: OssCredentials.fromSecret('oss'), ...props }),
});
const toCommand = (props: Partial<CommandStoreProps>) => ({
  image: 'registry.example.com/agent:1',
  store: BackupStore.command({ path: '/opt/store', ...props }),
});
const identity = (role: string) => S3Credentials.workloadIdentity({ serviceAccountAnnotations: { role } });

const recipient = 'age123z0dujas5ltpxxq72m3uqn9x0xwrfls84nga7pfe466w9tsdc0s7rthxh';
const secretKey = `AGE-SECRET-KEY-1${'Q'.repeat(58)}`;
const encrypted = (...recipients: string[]) => ({ encryption: Encryption.age({ recipients }) });

/** The message of synthesis for each mistake: the path of the construct, the property, and the remedy. */
const mistakes: [Partial<EtcdBackupScheduleProps>, string][] = [
  [{ cluster: 'a/b', name: 'n' }, "cluster: 'a/b' is not a valid cluster name; use up to 63 letters"],
  [{ cluster: 'c'.repeat(64), name: 'n' }, 'is not a valid cluster name'],
  [{ cluster: 'Orders_1' }, "name: 'Orders_1-nightly' is not a valid Kubernetes name; use lower-case letters"],
  [
    { name: 'n'.repeat(53) },
    ', the name of the CronJob, has 53 characters; use at most 52: shorten the name of the schedule or of the cluster',
  ],

  [{ endpoints: [] }, 'endpoints: is empty; give at least one'],
  [{ endpoints: ['etcd'] }, "endpoints: 'etcd' is not a valid etcd endpoint; write https://HOST:2379"],
  [{ endpoints: ['http://etcd:2379/v3'] }, 'is not a valid etcd endpoint'],
  [{ endpoints: ['a:1,b:2'] }, 'is not a valid etcd endpoint'],
  [{ endpoints: ['etcd:99999'] }, 'is not a valid etcd endpoint'],
  [{ endpoints: ['unix://etcd:2379'] }, 'is not a valid etcd endpoint'],
  [
    { endpoints: ['https://etcd:2379'] },
    "'https://etcd:2379' is https, but TLS settings are missing; give EtcdClientTls",
  ],
  [{ endpoints: ['http://etcd:2379'], tls }, 'is plain http, but TLS settings are given; write https://'],
  [{ endpoints: ['etcd:2379', 'http://ETCD:2379'] }, "endpoints: 'http://ETCD:2379' is given twice; remove one"],

  [{ tls: EtcdClientTls.fromSecret('My_Secret') }, "tls: Secret: 'My_Secret' is not a valid Kubernetes name"],
  [{ tls: EtcdClientTls.fromSecret('s', { keyKey: 'a/b' }) }, "tls: keyKey: 'a/b' is not a valid key of a Secret"],
  [{ tls: EtcdClientTls.fromCa(CaBundle.fromConfigMap('')) }, "tls: ConfigMap: '' is not a valid Kubernetes name"],
  [{ auth: EtcdAuth.fromSecret('') }, "auth: Secret: '' is not a valid Kubernetes name"],
  [{ auth: EtcdAuth.fromSecret('s', { passwordKey: '..' }) }, "auth: passwordKey: '..' is not a valid key"],

  [{ schedule: Cron.schedule({ minute: '61' }) }, "schedule: '61 * * * *': minute '61' is not within 0 to 59"],
  [{ schedule: Cron.schedule({ day: '31', month: '2' }) }, "schedule: '* * 31 2 *' never fires; choose"],
  [{ fileName: 'orders/%Y' }, "fileName: 'orders/%Y' is not a valid file name; use letters, digits"],
  [{ fileName: 'orders-%s' }, "fileName: 'orders-%s' is not a valid file name"],
  [{ fileNameTimeZone: 'Moon' }, "fileNameTimeZone: 'Moon' is not an IANA time zone"],
  [
    { timeZone: 'Europe/Atlantis' },
    "timeZone: 'Europe/Atlantis' is not an IANA time zone; write it like Europe/Berlin",
  ],
  [{ startingDeadline: Duration.seconds(10) }, 'startingDeadline: 10s skips runs'],
  [{ startingDeadline: Duration.seconds(0) }, "startingDeadline: '0s' is not a valid duration above zero"],
  [
    { startingDeadline: Duration.millis(20_500) },
    'startingDeadline: 20500ms is not a whole number of seconds; round it',
  ],
  [{ activeDeadline: Duration.seconds(0) }, "activeDeadline: '0s' is not a valid duration above zero"],
  [{ timeout: Duration.minutes(0) }, "timeout: '0s' is not a valid duration above zero"],
  [{ dialTimeout: Duration.minutes(0) }, "dialTimeout: '0s' is not a valid duration above zero"],
  [{ timeout: Duration.hours(7) }, 'timeout: 7h is not below activeDeadline (6h)'],

  [{ verify: VerificationLevel.STREAM, retention: Retention.last(3) }, 'verify: with stream no backup counts'],

  [
    { verify: VerificationLevel.OPEN, encryption: Encryption.age({ recipients: [recipient] }) },
    'verify: open must decrypt the backup, but the pod has no key',
  ],
  [encrypted(), 'encryption: recipients: is empty; give at least one'],
  [encrypted(recipient, 'ssh-ed25519 AAAA'), 'encryption: recipients: the value is not an age recipient; write age1…'],
  [encrypted(recipient.replace(/h$/, 'j')), "7rthxj' is not a valid age recipient; check it for typing errors"],
  [encrypted(recipient.slice(0, -1)), 'is not a valid age recipient; check it for'],
  [encrypted(recipient.toUpperCase()), 'the value is not an age recipient'],
  [encrypted(secretKey), 'encryption: recipients: a SECRET KEY is given, which must not be in a manifest; remove it'],
  [encrypted(` ${secretKey.toLowerCase()}`), 'a SECRET KEY is given'],

  [{ retries: -1 }, 'retries: -1 is too small: give at least 0'],
  [{ successfulJobsHistoryLimit: -1 }, 'successfulJobsHistoryLimit: -1 is too small'],
  [{ failedJobsHistoryLimit: 1.5 }, 'failedJobsHistoryLimit: 1.5 is not a whole number'],
  [{ image: '' }, "image: '' is not a valid image"],
  [{ imagePullSecrets: ['a b'] }, "imagePullSecrets[0].name: 'a b' is not a valid name of a Secret"],
  [{ serviceAccountName: '' }, "serviceAccountName: '' is not a valid name of a ServiceAccount"],
  [{ priorityClassName: 'High' }, "priorityClassName: 'High' is not a valid name of a PriorityClass"],
  [
    { resources: { cpuRequest: '100 m' } },
    "resources.cpuRequest: '100 m' is not a valid amount of CPU above zero: write it like",
  ],
  [{ resources: { cpuLimit: '0' } }, "resources.cpuLimit: '0' is not a valid amount"],
  [
    { resources: { memoryLimit: Size.mebibytes(0) } },
    "resources.memoryLimit: '0Mi' is not a valid amount of memory of at least 1Mi",
  ],
  [{ resources: { cpuRequest: '1', cpuLimit: '100m' } }, 'resources: the request of cpu is above its limit'],
  [
    { resources: { memoryRequest: Size.gibibytes(1), memoryLimit: Size.mebibytes(1000) } },
    'resources: the request of memory is above its limit',
  ],

  [
    to({ bucket: 'My_Bucket' }),
    "store: bucket: 'My_Bucket' is not a valid bucket name: use 3 to 63 lower-case letters",
  ],
  [to({ bucket: 's3://backups/etcd' }), 'and put a path into prefix'],
  [to({ bucket: '10.0.0.1' }), 'is not a valid bucket name'],
  [to({ prefix: 'a/../b' }), "store: prefix: 'a/../b' is not a valid folder within the store"],
  [to({ region: 'eu west' }), "store: region: 'eu west' is not a valid region; write it like eu-west-1"],
  [
    to({
      credentials: S3Credentials.fromSecret('s', { accessKeyIdKey: 'a', secretAccessKeyKey: 'b' }),
      region: undefined,
    }),
    "store: region: is missing; give the bucket's region",
  ],
  [to({ endpoint: 'ftp://host' }), 'store: endpoint: is not a valid S3 server: write https://HOST:PORT'],
  [to({ endpoint: 'https://' }), 'store: endpoint: is not a valid S3 server'],
  [to({ endpoint: 'https://host/path' }), 'store: endpoint: is not a valid S3 server'],
  [
    to({ endpoint: 'http://minio:9000', ca: CaBundle.fromSecret('ca') }),
    'store: ca: has no effect with http://: write https://',
  ],
  [to({ ca: CaBundle.fromSecret('ca', '') }), "store: ca: key: '' is not a valid key of a Secret"],
  [to({ kmsKeyId: 'k' }), "store: kmsKeyId: needs serverSideEncryption 'aws:kms': set it, or remove kmsKeyId"],
  [to({ kmsKeyId: 'k', serverSideEncryption: ServerSideEncryption.AES256 }), 'store: kmsKeyId: needs'],
  [
    to({ sseCustomerKey: SseCustomerKey.fromSecret('k'), serverSideEncryption: ServerSideEncryption.AES256 }),
    'store: sseCustomerKey: cannot be combined with serverSideEncryption',
  ],
  [
    to({ sseCustomerKey: SseCustomerKey.fromSecret('k'), endpoint: 'http://minio:9000' }),
    'store: sseCustomerKey: would cross the network in plain text: write https://',
  ],
  [
    to({ sseCustomerKey: SseCustomerKey.fromSecret('') }),
    "store: sseCustomerKey: Secret: '' is not a valid Kubernetes name",
  ],
  [to({ credentials: S3Credentials.fromSecret('') }), "store: credentials: Secret: '' is not a valid Kubernetes name"],
  [
    to({ credentials: S3Credentials.fromSecret('s', { accessKeyIdKey: 'k' }) }),
    'accessKeyIdKey and secretAccessKeyKey together',
  ],
  [
    to({ credentials: S3Credentials.fromSecret('s', { sessionTokenKey: 'k' }) }),
    'accessKeyIdKey and secretAccessKeyKey together',
  ],
  [
    to({
      credentials: S3Credentials.fromSecret('s', { accessKeyIdKey: 'a', secretAccessKeyKey: 'b', profile: 'p' }),
    }),
    "credentials: profile 'p' belongs to the AWS shared files, which named keys exclude; remove it, or the keys",
  ],
  [
    { serviceAccountName: 'mine', ...to({ credentials: identity('r') }) },
    'serviceAccountAnnotations: are for the ServiceAccount that is created: put them on the existing one',
  ],

  [toOss({ bucket: 'My.Bucket' }), "store: bucket: 'My.Bucket' is not a valid bucket name: use 3 to 63"],
  [toOss({ prefix: 'a//b' }), "store: prefix: 'a//b' is not a valid folder within the store"],
  [toOss({ region: 'eu central' }), "store: region: 'eu central' is not a valid region; write it like eu-central-1"],
  [toOss({ endpoint: '127.0.0.1:9000' }), 'is not a valid OSS host: write it like oss-eu-central-1'],
  [toOss({ endpoint: 'https://oss-eu-central-1.aliyuncs.com/backups' }), 'is not a valid OSS host'],
  [toOss({ endpoint: 'backups.oss-eu-central-1.aliyuncs.com' }), 'contains the name of a bucket; remove it'],
  [
    toOss({ endpoint: 'oss-eu-central-1.aliyuncs.com', region: 'cn-hangzhou' }),
    "store: region: 'cn-hangzhou' is not the region of endpoint oss-eu-central-1.aliyuncs.com",
  ],
  [toOss({ ca: CaBundle.fromSecret('CA') }), "store: ca: Secret: 'CA' is not a valid Kubernetes name"],
  [
    toOss({ credentials: OssCredentials.fromSecret('') }),
    "store: credentials: Secret: '' is not a valid Kubernetes name",
  ],
  [
    toOss({ credentials: OssCredentials.fromSecret('s', { accessKeyIdKey: 'k' }) }),
    'accessKeyIdKey and accessKeySecretKey together',
  ],

  [{ store: BackupStore.command({ path: '/opt/store' }) }, "image: store runs executables that the agent's own image"],
  [{ ...toCommand({}), image: agentImage }, 'give your own image with these and the agent'],
  [toCommand({ path: 'scripts' }), "store: path: 'scripts' is not an absolute path: write it like /opt/store"],
  [toCommand({ path: '/opt/../store' }), 'is not an absolute path'],
  [toCommand({ env: { 'A-B': 'x' } }), 'store: env: has an invalid name of a variable: use letters'],
  [toCommand({ credentialsSecretName: 'S' }), "store: credentialsSecretName: 'S' is not a valid name of a Secret"],
  [toCommand({ idleTimeout: Duration.seconds(0) }), "store: idleTimeout: '0s' is not a valid duration above zero"],

  [{ store: BackupStore.filesystem({}) }, 'store: give exactly one of claimName, nfs and hostPath'],
  [
    { store: BackupStore.filesystem({ claimName: 'c', nfs: { server: 's', path: '/' } }) },
    'store: give exactly one of claimName, nfs and hostPath',
  ],
  [
    { store: BackupStore.filesystem({ claimName: 'C' }) },
    "store: claimName: 'C' is not a valid name of a PersistentVolumeClaim",
  ],
  [
    { store: BackupStore.filesystem({ nfs: { server: '', path: '/' } }) },
    "store: nfs.server: '' is not a valid host name",
  ],
  [{ store: BackupStore.filesystem({ nfs: { server: 's', path: 'x' } }) }, "store: nfs.path: 'x' is not absolute"],
  [
    { store: BackupStore.filesystem({ claimName: 'c', directory: '/etcd' }) },
    "store: directory: '/etcd' is not a valid folder",
  ],
];

test.each(mistakes.map(([props, message]) => ({ props, message })))('$message', ({ props, message }) => {
  expect(problemsOf(schedule(props))).toEqual([expect.stringContaining(message)]);
});

test('each mistake is one line that begins with the path of the construct', () => {
  const backup = schedule({ cluster: 'a/b', name: 'n', endpoints: [], retries: -1 });
  expect(() => manifestsOf(backup)).toThrow(/^Validation failed with the following errors:\n/);
  expect(synthesisError(backup).split('\n  ').slice(1)).toEqual([
    expect.stringMatching(/^\[shop\/nightly\] cluster: /),
    expect.stringMatching(/^\[shop\/nightly\] endpoints: /),
    expect.stringMatching(/^\[shop\/nightly\] retries: /),
  ]);
});

test('a password in the URL of a store is not repeated in the error', () => {
  expect(synthesisError(schedule(to({ endpoint: 'https://user:hunter2@host' })))).not.toContain('hunter2');
});

test('a mistake in a store that was added names it', () => {
  const backup = schedule();
  backup.addStore(BackupStore.s3({ bucket: 'X', credentials }));
  expect(problemsOf(backup)).toEqual([expect.stringMatching(/^store 2: bucket: 'X' is not a valid bucket name/)]);
});

test.each([
  ['s3://backups', s3, BackupStore.s3({ bucket: 'backups', prefix: '/', credentials })],
  [
    's3://minio:9000/backups/a',
    BackupStore.s3({ bucket: 'backups', prefix: 'a', endpoint: 'minio:9000', credentials }),
    BackupStore.s3({ bucket: 'backups', prefix: 'a/', endpoint: 'https://minio:9000/', credentials }),
  ],
  ['oss://backups/a', toOss({ prefix: 'a' }).store, toOss({ prefix: '/a/' }).store],
  [
    'claim c/d',
    BackupStore.filesystem({ claimName: 'c', directory: 'd' }),
    BackupStore.filesystem({ claimName: 'c', directory: 'd' }),
  ],
])('two stores in the same place, %s', (place, store, same) => {
  const backup = schedule({ store });
  backup.addStore(same);
  expect(problemsOf(backup)).toEqual([
    `store 2: is the same place as an earlier store, ${place}; remove one, or give it a folder of its own`,
  ]);
});

test('an added command store requires its own image, too', () => {
  const backup = schedule();
  backup.addStore(BackupStore.command({ path: '/opt/store' }));
  expect(problemsOf(backup)).toEqual([expect.stringMatching(/^image: store 2 runs executables/)]);
});

test('stores that differ in folder, server or volume are different places', () => {
  const backup = schedule();
  backup.addStore(BackupStore.s3({ bucket: 'backups', prefix: 'a', credentials }));
  backup.addStore(BackupStore.s3({ bucket: 'backups', endpoint: 'minio:9000', credentials }));
  backup.addStore(BackupStore.filesystem({ claimName: 'c' }));
  backup.addStore(BackupStore.filesystem({ claimName: 'c', directory: 'd' }));
  expect(problemsOf(backup)).toEqual([]);
});

test('two stores cannot require different identities', () => {
  const backup = schedule({ store: BackupStore.s3({ bucket: 'one', credentials: identity('a') }) });
  backup.addStore(BackupStore.s3({ bucket: 'two', credentials: identity('b') }));
  expect(problemsOf(backup)).toEqual([
    expect.stringMatching(/annotation 'role', but a pod has only one identity; use one schedule for each/),
  ]);
});

test('a secret key is never repeated', () => {
  const backup = schedule(encrypted(recipient, secretKey, secretKey.toLowerCase(), secretKey.slice(16)));
  expect(synthesisError(backup).split('\n  ').slice(1)).toEqual([
    expect.stringMatching(/^\[shop\/nightly\] encryption: recipients: a SECRET KEY is given/),
    expect.stringMatching(/^\[shop\/nightly\] encryption: recipients: a SECRET KEY is given/),
    expect.stringMatching(/^\[shop\/nightly\] encryption: recipients: the value is not an age recipient/),
  ]);
  expect(synthesisError(backup).toUpperCase()).not.toContain('QQQQ');
});

test('two schedules of a chart cannot have the same name', () => {
  const chart = new Chart(Testing.app(), 'shop');
  new EtcdBackupSchedule(chart, 'a', { ...valid, name: 'same' });
  new EtcdBackupSchedule(chart, 'b', { ...valid, name: 'same' });
  expect(() => Testing.synth(chart)).toThrow(/\[shop\/a\] another .*\n.*\[shop\/b\] another backup schedule/);
});

test.each<[Retention, string]>([
  [Retention.last(0), 'last: 0 is too small: give at least 1'],
  [Retention.last(-1), 'last: -1 is too small'],
  [Retention.last(1.5), 'last: 1.5 is not a whole number'],
  [Retention.tiers({ daily: 0, weekly: 4 }), 'daily: 0 is too small'],
  [Retention.tiers({ last: 3, minKeep: 0 }), 'minKeep: 0 is too small'],
  [Retention.tiers({ within: Duration.days(0) }), "within: '0s' is not a valid duration above zero"],
  [Retention.tiers({}), 'keeps nothing: give last'],
  [Retention.tiers({ minKeep: 3, timeZone: 'UTC' }), 'keeps nothing'],
  [Retention.tiers({ daily: 1, timeZone: 'Mars' }), "timeZone: 'Mars' is not an IANA time zone"],
])('retention %#: %s', (retention, message) => {
  expect(synthesisError(schedule({ retention }))).toContain(`[shop/nightly] store: retention: ${message}`);
  const backup = schedule();
  backup.addStore(BackupStore.filesystem({ claimName: 'backup' }), { retention });
  expect(problemsOf(backup)).toEqual([expect.stringContaining(`store 2: retention: ${message}`)]);
});

function problemsOf(backup: EtcdBackupSchedule): string[] {
  return backup.node.validate();
}

function synthesisError(backup: EtcdBackupSchedule): string {
  try {
    manifestsOf(backup);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('synthesis found no mistake');
}
