import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Chart, Cron } from 'cdk8s';
import { EtcdCluster, EtcdReconciler } from '../../src';
import { s3 } from '../synth';
import { Promtool } from './promtool';
import {
  always,
  becomes,
  condition,
  exported,
  type Faulty,
  histogram,
  hourly,
  ofPod,
  own,
  reconciler,
  type Span,
  secondsOf,
  timeline,
} from './scenario';

/** Of everything in one namespace: nothing is reported twice. */
function everything(): Chart {
  const chart = new Chart(new App(), 'chart', { namespace: 'shop' });
  new EtcdReconciler(chart, 'reconciler', { replicas: 2 }).addMonitoring();
  new EtcdCluster(chart, 'orders').addMonitoring();
  const legacy = EtcdCluster.fromEndpoints(chart, 'legacy', ['http://etcd:2379']);
  legacy.addBackupSchedule('hourly', { schedule: Cron.hourly(), store: s3 }).addMonitoring();
  return chart;
}

const promtool = new Promtool(everything());
const { rules } = promtool;
afterAll(() => promtool.dispose());

/** Returns what promtool reports: empty if exactly these alerts fire in these minutes. */
function fires(faults: Readonly<Record<string, Faulty>>, span: Span, expected: ReadonlyMap<number, readonly string[]>) {
  const alerts = [...expected].map(([minute, names]) => [minute, names.map((alertname) => ({ alertname }))] as const);
  return promtool.fires(timeline(faults, span), new Map(alerts));
}

const runbook = readFileSync(join(__dirname, '../../docs/operations/runbook.md'), 'utf8');

const start = 30;

/** The alert fires when the fault has lasted for its time, alone, and not before; and it resolves. */
function checkAlert(name: string, faults: Readonly<Record<string, Faulty>>, delay = 0, after = 0): void {
  const { for: lasts } = rules.find(({ alert }) => alert === name)!;
  const wait = minutesOf(lasts) + delay;
  const to = start + wait + 10;
  const span = { from: start, to, end: to + after + 10 };
  expect(
    fires(
      faults,
      span,
      new Map([
        [start - 1, []],
        [start + wait - 2, []],
        [start + wait + 2, [name]],
        [to + after + 5, []],
      ]),
    ),
  ).toBe('');
}

const units: Readonly<Record<string, number>> = { h: 60, m: 1, s: 1 / 60 };
const minutesOf = (text: string): number => Number.parseInt(text, 10) * units[text.at(-1)!]!;

test('Prometheus accepts the rules', () => expect(promtool.check()).toBe(''));

test('a healthy cluster raises no alert in two hours', () => {
  const minutes = [...Array(24).keys()].map((each) => each * 5);
  expect(fires({}, { from: 0, to: 0, end: 120 }, new Map(minutes.map((minute) => [minute, []])))).toBe('');
});

test('the test world reports an alert that fires without being expected', () => {
  const span = { from: 0, to: 60, end: 60 };
  expect(fires(becomes('QuorumLost', 'True', 'QuorumLost'), span, new Map([[30, []]]))).toContain('EtcdQuorumLost');
});

const onConditions: readonly (readonly [alert: string, condition: string, status: string, reason: string])[] = [
  ['EtcdQuorumLost', 'QuorumLost', 'True', 'MajorityDown'],
  ['EtcdUnavailable', 'Available', 'False', 'NoReadyPod'],
  ['EtcdNotFormed', 'Available', 'False', 'Bootstrapping'],
  ['EtcdNotFormed', 'Available', 'False', 'Restoring'],
  ['EtcdStateUnknown', 'Available', 'Unknown', 'StateUnknown'],
  ['EtcdDegraded', 'Degraded', 'True', 'MemberDown'],
  ['EtcdVolumeFull', 'Degraded', 'True', 'DiskFull'],
  ['EtcdRevocationWaits', 'CertificatesReady', 'False', 'RevokingIntermediates'],
  ['EtcdStalled', 'Stalled', 'True', 'RecordLost'],
  ['EtcdAlarm', 'Alarm', 'True', 'NoSpace'],
  ['EtcdAlarmUnknown', 'Alarm', 'Unknown', 'StateUnknown'],
  ['EtcdSpecRefused', 'Accepted', 'False', 'DowngradeRefused'],
  ['EtcdBackupUnhealthy', 'BackupHealthy', 'False', 'LastBackupFailed'],
  ['EtcdBackupUnhealthy', 'BackupHealthy', 'False', 'BackupOverdue'],
  ['EtcdBackupDoesNotStart', 'BackupHealthy', 'False', 'BackupPending'],
  ['EtcdCertificatesNotReady', 'CertificatesReady', 'False', 'AuthorityLost'],
  ['EtcdCertificatesNotReady', 'CertificatesReady', 'Unknown', 'StateUnknown'],
  ['EtcdRootExpires', 'CertificatesReady', 'False', 'RootExpiring'],
  ['EtcdAuthNotReady', 'AuthReady', 'False', 'OnlyRoot'],
  ['EtcdVersionUnsafe', 'VersionSafe', 'False', 'KnownVulnerabilities'],
  ['EtcdTransportNotReady', 'TransportReady', 'False', 'SwitchingTransport'],
  ['EtcdPlaintextAccepted', 'TransportReady', 'False', 'PlaintextAccepted'],
];

test.each(onConditions)('%s: %s %s, %s', (alert, condition, status, reason) => {
  expect(runbook).toContain(`\n### ${reason}\n`);
  checkAlert(alert, becomes(condition, status, reason));
});

test('a lost quorum is one alert, not two', () => {
  checkAlert('EtcdQuorumLost', {
    ...becomes('QuorumLost', 'True', 'QuorumLost'),
    ...becomes('Available', 'False', 'QuorumLost'),
  });
});

test('a full database is one alert, not two', () => {
  checkAlert('EtcdAlarm', { ...becomes('Alarm', 'True', 'NoSpace'), ...becomes('Available', 'False', 'NoSpace') });
});

/** The faults last for two hours and more, longer than every alert but one waits. */
function checkOnly(name: string, faults: Readonly<Record<string, Faulty>>): void {
  const span = { from: start, to: 150, end: 180 };
  const expected = [start - 1, 65, 90, 119, 149, 179].map(
    (minute) => [minute, minute > start && minute < span.to ? [name] : []] as const,
  );
  expect(fires(faults, span, new Map(expected))).toBe('');
}

const unknown = {
  ...becomes('Alarm', 'Unknown', 'StateUnknown'),
  ...becomes('CertificatesReady', 'Unknown', 'StateUnknown'),
  ...becomes('AuthReady', 'Unknown', 'StateUnknown'),
  ...becomes('TransportReady', 'Unknown', 'StateUnknown'),
};
const gone = Object.fromEntries(
  [0, 1, 2].map((ordinal) => [ofPod('etcd_server_has_leader', ordinal), { well: 1 }] as const),
);
const oneFault: readonly (readonly [what: string, alert: string, faults: Readonly<Record<string, Faulty>>])[] = [
  [
    'a majority of pods is gone',
    'EtcdQuorumLost',
    {
      ...becomes('QuorumLost', 'True', 'MajorityDown'),
      ...becomes('Available', 'False', 'QuorumLost'),
      ...becomes('Degraded', 'True', 'MajorityDown'),
      ...unknown,
      ...gone,
    },
  ],
  [
    'a majority of volumes is lost',
    'EtcdQuorumLost',
    {
      ...becomes('QuorumLost', 'True', 'MajorityVolumesLost'),
      ...becomes('Available', 'False', 'QuorumLost'),
      ...becomes('Degraded', 'True', 'MajorityVolumesLost'),
      ...becomes('Stalled', 'True', 'MajorityVolumesLost'),
      ...unknown,
    },
  ],
  [
    'the reconciler does not reach etcd',
    'EtcdStateUnknown',
    {
      ...becomes('Available', 'Unknown', 'QuorumUnknown'),
      ...becomes('QuorumLost', 'Unknown', 'QuorumUnknown'),
      ...unknown,
    },
  ],
  [
    'a cluster was applied without its manifests',
    'EtcdStalled',
    {
      ...becomes('Stalled', 'True', 'ManifestsMissing'),
      ...becomes('Available', 'False', 'ManifestsMissing'),
      ...unknown,
      ...gone,
    },
  ],
  [
    'the first pod of a cluster does not run',
    'EtcdNotFormed',
    {
      ...becomes('Available', 'False', 'Bootstrapping'),
      ...becomes('QuorumLost', 'Unknown', 'Bootstrapping'),
      ...becomes('Alarm', 'Unknown', 'Bootstrapping'),
      ...becomes('Degraded', 'True', 'PodNotRunning'),
      ...gone,
    },
  ],
  [
    'pods wait with an etcd of another version',
    'EtcdStalled',
    { ...becomes('Stalled', 'True', 'VersionMismatch'), ...becomes('Degraded', 'True', 'VersionMismatch') },
  ],
  [
    'data of members differ',
    'EtcdAlarm',
    { ...becomes('Alarm', 'True', 'Corrupt'), ...becomes('Stalled', 'True', 'CorruptAlarm') },
  ],
  [
    'an older version is asked for',
    'EtcdSpecRefused',
    { ...becomes('Accepted', 'False', 'DowngradeRefused'), ...becomes('Stalled', 'True', 'UpgradeRefused') },
  ],
  [
    'the database is full again',
    'EtcdAlarm',
    {
      ...becomes('Alarm', 'True', 'NoSpace'),
      ...becomes('Available', 'False', 'NoSpace'),
      ...becomes('Stalled', 'True', 'NoSpace'),
    },
  ],
  [
    'the database is full',
    'EtcdAlarm',
    {
      ...becomes('Alarm', 'True', 'NoSpace'),
      ...becomes('Available', 'False', 'NoSpace'),
      [ofPod('etcd_mvcc_db_total_size_in_bytes', 1)]: { well: 500e6, fault: 1.99e9 },
    },
  ],
  [
    'writes hang while reads are answered',
    'EtcdAlarmUnknown',
    { ...becomes('Alarm', 'Unknown', 'StateUnknown'), ...becomes('AuthReady', 'Unknown', 'StateUnknown') },
  ],
  [
    'a volume becomes full, and stops its member',
    'EtcdVolumeFull',
    {
      ...becomes('Degraded', 'True', 'DiskFull'),
      [ofPod('etcd_agent_volume_free_bytes', 1)]: { well: 6e9, fault: 0 },
    },
  ],
  [
    'the only pod is not ready',
    'EtcdUnavailable',
    { ...becomes('Available', 'False', 'NoReadyPod'), ...becomes('Degraded', 'True', 'NoReadyPod') },
  ],
  [
    'a lost volume waits to be replaced by hand',
    'EtcdDegraded',
    {
      ...becomes('Degraded', 'True', 'VolumeLost'),
      [ofPod('etcd_agent_permit_wait_seconds', 1)]: { well: 0, fault: 1000 },
    },
  ],
];

test.each(oneFault)('one fault raises one alert: %s', (_, alert, faults) => checkOnly(alert, faults));

test('another problem does not hide one', () => {
  const both = (faults: Readonly<Record<string, Faulty>>, names: readonly string[]) =>
    expect(fires(faults, { from: start, to: 150, end: 150 }, new Map([[140, names]]))).toBe('');
  both({ ...becomes('Stalled', 'True', 'UpgradeRefused'), ...becomes('Degraded', 'True', 'MemberDown') }, [
    'EtcdDegraded',
    'EtcdStalled',
  ]);
  both({ ...becomes('Available', 'False', 'NoReadyPod'), ...becomes('AuthReady', 'False', 'OnlyRoot') }, [
    'EtcdAuthNotReady',
    'EtcdUnavailable',
  ]);
});

test.each([
  ['a member restarts as planned', becomes('Degraded', 'True', 'Starting')],
  ['a root is being replaced', becomes('CertificatesReady', 'False', 'RotatingRoot')],
  ['a cluster has no backup schedule', becomes('BackupHealthy', 'False', 'NoSchedule')],
  ['the cluster grows', becomes('Progressing', 'True', 'Growing')],
])('no alert while %s', (_, faults) => {
  expect(fires(faults, { from: 10, to: 400, end: 420 }, new Map([100, 399, 410].map((minute) => [minute, []])))).toBe(
    '',
  );
});

const day = 86400;
const expiry = (ordinal: number) =>
  ofPod('etcd_agent_certificate_expiry_timestamp_seconds', ordinal, 'certificate="server"');

const onMembers: readonly (readonly [string, Readonly<Record<string, Faulty>>, { delay?: number; after?: number }])[] =
  [
    ['EtcdDatabaseAlmostFull', { [ofPod('etcd_mvcc_db_total_size_in_bytes', 1)]: { well: 500e6, fault: 1.7e9 } }, {}],
    ['EtcdVolumeAlmostFull', { [ofPod('etcd_agent_volume_free_bytes', 1)]: { well: 6e9, fault: 0.7e9 } }, {}],
    ['EtcdMemberWaits', { [ofPod('etcd_agent_permit_wait_seconds', 1)]: { well: 0, fault: 1000 } }, {}],
    ['EtcdCertificateExpires', { [expiry(2)]: { well: 60 * day, fault: 13 * day } }, {}],
    ['EtcdDiskSlow', histogram('etcd_disk_wal_fsync_duration_seconds', 0, 0.008, 1.024), { delay: 1, after: 5 }],
    ['EtcdDiskSlow', histogram('etcd_disk_backend_commit_duration_seconds', 0, 0.016, 1.024), { delay: 1, after: 5 }],
  ];

test.each(onMembers)('%s', (alert, faults, { delay, after }) => checkAlert(alert, faults, delay, after));

test('EtcdLeaderChanges: an election is not an alert, one after the other is', () => {
  const changes = (every: number) => ({
    [ofPod('etcd_server_leader_changes_seen_total', 0)]: {
      well: 2,
      fault: (minute: number) => 2 + Math.floor((minute - 30) / every),
    },
  });
  const span = { from: 30, to: 120, end: 120 };
  expect(
    fires(
      changes(1),
      span,
      new Map([
        [29, []],
        [32, []],
        [55, ['EtcdLeaderChanges']],
      ]),
    ),
  ).toBe('');
  expect(
    fires(
      changes(5),
      span,
      new Map([
        [60, []],
        [110, []],
      ]),
    ),
  ).toBe('');
});

test('EtcdReconcilerDown: without a pass, and without a reconciler', () => {
  const pass = own('etcd_reconciler_last_pass_timestamp_seconds');
  const stuck = { [pass]: { well: secondsOf, fault: () => secondsOf(start) } };
  checkAlert('EtcdReconcilerDown', stuck, 5);
  checkAlert('EtcdReconcilerDown', { [pass]: { well: secondsOf } });
});

test('EtcdCertificateExpires: not for one that lives for a week and is renewed in time', () => {
  const week = {
    [expiry(2)]: { well: 4 * day, fault: 2 * day },
    [ofPod('etcd_agent_certificate_lifetime_seconds', 2, 'certificate="server"')]: always(7 * day),
  };
  expect(fires(week, { from: 10, to: 200, end: 220 }, new Map([[190, []]]))).toBe('');
});

test('EtcdDegraded: also if its reason alternates', () => {
  const every = (odd: number) => (minute: number) => (Math.floor(minute / 4) % 2 === odd ? 1 : undefined);
  const alternating = {
    ...becomes('Degraded', 'True', 'MemberDown'),
    [condition('Degraded', 'True', 'MemberDown')]: { fault: every(0) },
    [condition('Degraded', 'True', 'MemberBlocked')]: { fault: every(1) },
  };
  checkAlert('EtcdDegraded', alternating);
});

test('EtcdOperationStuck', () => {
  const operation = own('etcd_cluster_operation_start_timestamp_seconds', 'operation="Upgrade"');
  checkAlert('EtcdOperationStuck', { [operation]: { fault: secondsOf(start) } }, 60);
});

test('EtcdAgentMetricsMissing: also of one member alone', () => {
  const sizes = (ordinals: readonly number[]) =>
    Object.fromEntries(ordinals.map((ordinal) => [ofPod('etcd_agent_volume_size_bytes', ordinal), { well: 8e9 }]));
  checkAlert('EtcdAgentMetricsMissing', sizes([0, 1, 2]));
  checkAlert('EtcdAgentMetricsMissing', sizes([1]));
});

test('EtcdMetricsMissing: not while one of the members is scraped', () => {
  const gone = (ordinals: readonly number[]) =>
    Object.fromEntries(ordinals.map((ordinal) => [ofPod('etcd_server_has_leader', ordinal), { well: 1 }]));
  checkAlert('EtcdMetricsMissing', gone([0, 1, 2]));
  const span = { from: 30, to: 120, end: 120 };
  expect(fires(gone([0, 1]), span, new Map([[119, []]]))).toBe('');
});

const newest = (store: number) => exported('etcd_backup_last_verified_timestamp_seconds', store);
const isUp = (store: number) => exported('etcd_backup_store_up', store);
/** Time of the newest backup before the faults begin. */
const before = hourly(start);

test('EtcdBackupTooOld: in one of the stores', () => {
  checkAlert('EtcdBackupTooOld', { [newest(2)]: { well: hourly, fault: before } }, 120 - start);
});

test('EtcdBackupsGone: a store that had verified backups has none', () =>
  checkAlert('EtcdBackupsGone', { [newest(2)]: { well: hourly, fault: 0 } }));

test('EtcdBackupNone: a store that never had one; the exporter may restart meanwhile', () => {
  checkAlert('EtcdBackupNone', { [newest(2)]: { fault: 0 } }, 0, 15);
  const restarts = { [newest(2)]: { fault: (minute: number) => (minute % 60 < 5 ? undefined : 0) } };
  const span = { from: start, to: 400, end: 410 };
  expect(fires(restarts, span, new Map([[399, ['EtcdBackupNone']]]))).toBe('');
});

test('EtcdBackupStoreDown: one alert, also when its newest backup is too old', () => {
  const down = { [isUp(1)]: { well: 1, fault: 0 }, [newest(1)]: { well: hourly, fault: before } };
  checkAlert('EtcdBackupStoreDown', down, 20);
  const span = { from: start, to: 300, end: 310 };
  expect(fires(down, span, new Map([[290, ['EtcdBackupStoreDown']]]))).toBe('');
});

test('EtcdBackupStoreDown: not for a store of which some reads fail', () => {
  const flapping = { [isUp(1)]: { well: 1, fault: (minute: number) => (minute % 10 < 5 ? 1 : 0) } };
  const span = { from: start, to: 200, end: 210 };
  expect(fires(flapping, span, new Map([[199, []]]))).toBe('');
});

test('EtcdBackupMetricsMissing: one alert, without any about the stores', () => {
  const gone = Object.fromEntries(
    [1, 2].flatMap((store) => [isUp(store), newest(store)].map((each) => [each, { well: 1 }])),
  );
  const well = { [newest(1)]: { well: hourly }, [newest(2)]: { well: hourly } };
  checkAlert('EtcdBackupMetricsMissing', { ...gone, ...well });
});

const leads = (pod: number, ...labels: string[]) => reconciler('etcd_reconciler_leader', pod, ...labels);

test('EtcdReconcilerInactive: without a leader, and without a pod', () => {
  checkAlert('EtcdReconcilerInactive', { [leads(0)]: { well: 1, fault: 0 } });
  checkAlert('EtcdReconcilerInactive', { [leads(0)]: { well: 1 }, [leads(1)]: { well: 0 } });
});

test('a reconciler that is gone is one alert: that of the cluster', () => {
  const gone = {
    [own('etcd_reconciler_last_pass_timestamp_seconds')]: { well: secondsOf },
    ...Object.fromEntries([0, 1].map((pod) => [leads(pod), { well: 1 - pod }])),
    ...Object.fromEntries(
      [0, 1].flatMap((pod) =>
        ['pods', 'jobs'].map((kind) => [reconciler('etcd_reconciler_synced', pod, `resource="${kind}"`), { well: 1 }]),
      ),
    ),
  };
  checkAlert('EtcdReconcilerDown', gone);
});

test('EtcdReconcilerNotSynced', () => {
  const jobs = reconciler('etcd_reconciler_synced', 0, 'resource="jobs"');
  checkAlert('EtcdReconcilerNotSynced', { [jobs]: { well: 1, fault: 0 } });
});

test('EtcdReconcilerStandbyDown', () => checkAlert('EtcdReconcilerStandbyDown', { [leads(1)]: { well: 0 } }));

test('every alert has a test above', () => {
  const tested = new Set(
    [...readFileSync(__filename, 'utf8').matchAll(/'(Etcd[A-Z]\w+)[':]/g)].map(([, name]) => name),
  );
  expect(rules.filter(({ alert }) => !tested.has(alert))).toEqual([]);
});
