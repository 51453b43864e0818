import { Cron, Duration } from 'cdk8s';
import { EtcdBackup, type EtcdBackupProps, Retention } from '../../src';
import type { Manifest } from '../synth';
import { Etcd } from './support/etcd';
import { lastLogLine, outcomeOf, runAgent } from './support/jobs';
import type { Parts } from './support/member-cluster';
import { S3 } from './support/s3';
import { slowTest } from './support/settings';
import { Play, tell } from './watch/play';

let play: Play;
let s3: S3;
beforeAll(async () => {
  play = await Play.begin('etcd-backup', {
    tls: true,
    prepare: async (namespace) => {
      s3 = await S3.start(namespace);
    },
    shape: everyMinute,
  });
});
afterAll(() => play?.end());

const noBucket = 'not-there';
/** The number in the Job's name is in minutes. */
const minuteOf = ({ metadata }: Manifest): number => Number(/\d+$/.exec(metadata.name)?.[0]);
let firstRun: Manifest;

/** Two snapshots are kept. */
function everyMinute({ cluster }: Parts): void {
  const retention = Retention.last(2);
  cluster.addBackupSchedule('minutely', { schedule: Cron.everyMinute(), store: s3.store(), retention });
}

/** Applies an EtcdBackup, of the cluster unless it names endpoints. */
async function ask(name: string, props: Partial<EtcdBackupProps>): Promise<void> {
  play.cluster.reshape((parts) => {
    everyMinute(parts);
    const { chart, cluster } = parts;
    new EtcdBackup(chart, name, { name, ...(!props.endpoints && { cluster }), ...props });
  });
  await play.cluster.apply();
}

const statusOf = async (name: string): Promise<Manifest> => (await play.namespace.get('etcdbackup', name)).status ?? {};

async function ended(name: string, seconds = 180): Promise<Manifest> {
  return play.namespace.until(`the end of EtcdBackup ${name}`, seconds, async () => {
    const status = await statusOf(name);
    return ['Completed', 'Failed'].includes(status.phase) ? status : undefined;
  });
}

/** In the order of their reasons: an Event's time is a whole second. */
async function eventsOf(name: string): Promise<Manifest[]> {
  const selector = `--field-selector=involvedObject.kind=EtcdBackup,involvedObject.name=${name}`;
  const { items } = await play.namespace.get('events', selector);
  return items.sort((a: Manifest, b: Manifest) => (a.reason < b.reason ? -1 : 1));
}
const reasonsOf = async (name: string) => (await eventsOf(name)).map(({ reason }) => reason);

/** Records of scheduled runs that have ended, oldest first. */
async function runs(schedule: string): Promise<Manifest[]> {
  const { items } = await play.namespace.get('etcdbackups', `--selector=cdk8s-etcd.dev/schedule=${schedule}`);
  return items
    .filter(({ status }: Manifest) => ['Completed', 'Failed'].includes(status?.phase))
    .sort((a: Manifest, b: Manifest) => (a.status.startTime < b.status.startTime ? -1 : 1));
}

/** Ids of the cluster's snapshots in the bucket, below a prefix. */
async function stored(prefix = ''): Promise<string[]> {
  const folder = `${prefix}${play.namespace.name}/orders`;
  const files = await s3.files();
  return files.flatMap((file) => (file.startsWith(`${folder}/`) && /^[^.]+\.json$/.test(file) ? [idOf(file)] : []));
}
const idOf = (file: string): string => file.split('/').at(-1)!.replace(/\..*$/, '');

async function metrics(): Promise<string> {
  const selector = '--selector=app.kubernetes.io/name=etcd-reconciler';
  const { items } = await play.namespace.get('pods', selector);
  const [{ metadata }] = items;
  const path = `/api/v1/namespaces/${play.namespace.name}/pods/http:${metadata.name}:8080/proxy/metrics`;
  return (await play.namespace.kubectl(['get', '--raw', path])).stdout;
}

async function reconcilers(replicas: number): Promise<void> {
  await play.namespace.kubectl(['scale', 'deployment/etcd-reconciler', `--replicas=${replicas}`]);
  if (replicas > 0) return play.namespace.ready('deployment', 'etcd-reconciler');
  await play.namespace.until('the end of the reconciler', 90, async () => {
    const { items } = await play.namespace.get('pods', '--selector=app.kubernetes.io/name=etcd-reconciler');
    return items.length === 0 ? true : undefined;
  });
}

test('the schedule fires by itself, and its run is an EtcdBackup that goes with its Job', async () => {
  const [run] = await play.namespace.until('a scheduled run', 180, async () => {
    const found = await runs('minutely');
    return found.length > 0 ? found : undefined;
  });
  firstRun = run!;
  expect(run).toMatchObject({
    metadata: { ownerReferences: [{ kind: 'Job', name: expect.stringMatching(/^orders-minutely-\d+$/) }] },
    spec: { clusterName: 'orders', schedule: 'minutely' },
    status: { phase: 'Completed', verified: 'read', source: 'orders', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  });
  expect(await reasonsOf(run!.metadata.name)).toEqual(['BackupSucceeded']);
  const status = await play.namespace.until('lastBackup', 60, async () => {
    const { status } = await play.cluster.resource();
    return status.lastBackup && status;
  });
  expect(status.lastBackup).toMatchObject({ schedule: 'minutely', verified: 'read' });
  expect(await play.cluster.condition('BackupHealthy')).toMatchObject({
    status: 'True',
    reason: 'LastBackupSucceeded',
  });
  expect((await play.namespace.kubectl(['get', 'etcd'])).stdout).toMatch(/BACKUP-AGE/);
});

test('one backup by applying the resource, stored with those of its schedule', async () => {
  const begun = Date.now();
  await ask('before', { schedule: 'minutely' });
  const status = await ended('before');
  tell(`etcd-backup: on demand ${((Date.now() - begun) / 1000).toFixed(1)} s`);
  expect(status).toMatchObject({
    phase: 'Completed',
    verified: 'read',
    key: `${play.namespace.name}/orders/${status.snapshotId}.db.zst`,
    startTime: expect.any(String),
    completionTime: expect.any(String),
  });
  expect(await stored()).toContain(status.snapshotId);
  expect(await reasonsOf('before')).toEqual(['BackupSucceeded', 'SuccessfulCreate']);
  const { stdout } = await play.namespace.kubectl(['get', 'etcdbackup', 'before']);
  expect(stdout).toMatch(new RegExp(`\\nbefore +Completed +orders +${status.revision} +${status.sizeBytes} +read `));
  const job = await play.namespace.get('job', status.jobName);
  expect(job.metadata.ownerReferences).toMatchObject([{ kind: 'EtcdBackup', name: 'before' }]);
});

test('one backup of any endpoints, under its own key', async () => {
  await Etcd.start(play.namespace, { size: 1 });
  await ask('legacy', {
    endpoints: ['http://etcd-0.etcd:2379'],
    store: s3.store(),
    key: 'releases/{{ .Name }}.db.zst',
  });
  expect(await ended('legacy')).toMatchObject({
    phase: 'Completed',
    key: 'releases/legacy.db.zst',
    source: 'http://etcd-0.etcd:2379',
  });
  expect(await s3.files()).toEqual(expect.arrayContaining(['releases/legacy.db.zst', 'releases/legacy.db.zst.json']));
});

test('a failure: in kubectl get, as a Warning with the Job and its line, and the Job stays with its log', async () => {
  await ask('failing', { store: s3.store({ bucket: noBucket }) });
  const status = await ended('failing');
  expect(status).toMatchObject({ phase: 'Failed', reason: 'StoreRefused', completionTime: expect.any(String) });
  expect(status.message).toMatch(new RegExp(`^Job ${status.jobName}: s3://${noBucket}.*the bucket does not exist`));
  const events = await eventsOf('failing');
  expect(events.map(({ type, reason }) => [type, reason])).toEqual([
    ['Warning', 'BackupFailed'],
    ['Normal', 'SuccessfulCreate'],
  ]);
  expect(events[0]!.message).toBe(status.message);
  const { stdout } = await play.namespace.kubectl(['get', 'etcdbackups']);
  expect(stdout).toMatch(/\nfailing +Failed +orders .*StoreRefused/);
  const { pods } = await outcomeOf(play.namespace, status.jobName);
  expect(JSON.parse(await lastLogLine(play.namespace, pods[0]!.name))).toMatchObject({ ok: false, exitCode: 21 });
});

test('a missing Secret is reported in the words of Kubernetes, and the backup is taken once it exists', async () => {
  await ask('no-secret', { store: s3.store({ secretName: 'late' }) });
  const { phase, message } = await play.namespace.until('PodWaits', 60, async () => {
    const status = await statusOf('no-secret');
    return status.reason === 'PodWaits' ? status : undefined;
  });
  expect(phase).toBe('BackingUp');
  expect(message).toMatch(/^pod no-secret-\S+: FailedMount: .*secret "late" not found/);
  await s3.grant('late');
  expect(await ended('no-secret', 240)).toMatchObject({ phase: 'Completed', verified: 'read' });
});

slowTest('an image that cannot be pulled is Failed at the time-out', async () => {
  await ask('no-image', { store: s3.store(), image: 'registry.invalid/agent:none', timeout: Duration.seconds(45) });
  const status = await ended('no-image', 120);
  expect(status).toMatchObject({ phase: 'Failed', reason: 'ImageNotPulled' });
  expect(status.message).toMatch(/timed out after \d+ s: pod .*(ErrImagePull|ImagePullBackOff).*registry\.invalid/);
});

test('the result of a vanished Job is found in the store, and no other snapshot is taken', async () => {
  await ask('vanishing', { store: s3.store(), prefix: 'vanishing' });
  await play.namespace.until('BackingUp', 60, async () =>
    (await statusOf('vanishing')).phase === 'BackingUp' ? true : undefined,
  );
  await reconcilers(0);
  const { jobName, phase } = await statusOf('vanishing');
  await outcomeOf(play.namespace, jobName);
  await play.namespace.kubectl(['delete', 'job', jobName]);
  const [id] = await stored('vanishing/');
  await reconcilers(1);
  const status = await ended('vanishing');
  expect(status).toMatchObject({ phase: 'Completed', snapshotId: id });
  expect(await stored('vanishing/')).toEqual([id]);
  // The Job may have ended before the reconciler.
  if (phase === 'BackingUp')
    expect(await reasonsOf('vanishing')).toEqual([
      'BackupSucceeded',
      'JobVanished',
      'SuccessfulCreate',
      'SuccessfulCreate',
    ]);
});

slowTest('the records and the cluster show a schedule that fails, until a run succeeds', async () => {
  play.cluster.reshape((parts) => {
    everyMinute(parts);
    parts.cluster.addBackupSchedule('broken', { schedule: Cron.everyMinute(), store: s3.store({ bucket: noBucket }) });
  });
  await play.cluster.apply();
  const condition = await play.namespace.until('LastBackupFailed', 180, async () => {
    const found = await play.cluster.condition('BackupHealthy');
    return found?.reason === 'LastBackupFailed' ? found : undefined;
  });
  expect(condition.message).toMatch(/^broken: Job orders-broken-\d+: s3:\/\/not-there/);
  expect(await metrics()).toMatch(/^etcd_cluster_backup_run_failed\{etcd_cluster="orders",schedule="broken"\} 1$/m);
  play.cluster.reshape(everyMinute);
  await play.cluster.apply();
  await play.namespace.kubectl(['delete', 'cronjob', 'orders-broken']);
  await play.namespace.until('LastBackupSucceeded', 120, async () => {
    const found = await play.cluster.condition('BackupHealthy');
    return found?.status === 'True' ? true : undefined;
  });
});

test('retention works, the number of records is bounded, and the metrics show it', async () => {
  const newest = await play.namespace.until('five runs more', 420, async () => {
    const last = (await runs('minutely')).at(-1);
    return last && minuteOf(last) - minuteOf(firstRun) >= 5 ? last : undefined;
  });
  // The CronJob keeps three Jobs that succeeded.
  await play.namespace.until('three records', 60, async () =>
    (await runs('minutely')).length <= 3 ? true : undefined,
  );
  const left = await stored();
  expect(left.length).toBeLessThanOrEqual(3);
  expect(left).toContain(newest.status.snapshotId);
  const verified = await runAgent(play.namespace, 'orders-minutely', 'verify', {
    store: 0,
    args: ['verify', '--level=open', newest.status.snapshotId],
  });
  expect(verified.snapshots).toEqual([expect.objectContaining({ outcome: 'verified', level: 'open' })]);
  const text = await metrics();
  expect(text).toMatch(/^etcd_reconciler_backups\{phase="Failed"\} [1-9]/m);
  expect(text).toMatch(/^etcd_cluster_backup_run_failed\{etcd_cluster="orders",schedule="minutely"\} 0$/m);
  expect(text).toMatch(/^etcd_cluster_last_backup_timestamp_seconds\{etcd_cluster="orders"\} \d+/m);
});

test('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
