import { Duration, Testing } from 'cdk8s';
import { AutoCompaction, EtcdCluster, EtcdTuning, type EtcdTuningProps } from '../..';
import { tuningProblems, tuningSettings } from './etcd-tuning';

test('LAN has the defaults of etcd, and forgets what is older than an hour', () => {
  expect(tuningSettings(EtcdTuning.LAN._spec())).toEqual({
    'heartbeat-interval': 100,
    'election-timeout': 1000,
    'snapshot-count': 10000,
    'auto-compaction-mode': 'periodic',
    'auto-compaction-retention': '1h',
  });
});

test('WAN waits longer', () => {
  expect(tuningSettings(EtcdTuning.WAN._spec())).toMatchObject({ 'heartbeat-interval': 500, 'election-timeout': 5000 });
});

test.each([
  [AutoCompaction.periodic(Duration.days(2)), 'periodic', '48h'],
  [AutoCompaction.periodic(Duration.minutes(90)), 'periodic', '90m'],
  [AutoCompaction.revisions(1000), 'revision', '1000'],
  [AutoCompaction.disabled(), 'periodic', '0'],
])('auto-compaction %#', (autoCompaction, mode, retention) => {
  const tuning = EtcdTuning.of({ autoCompaction });
  expect(tuningProblems(tuning._spec())).toEqual([]);
  expect(tuningSettings(tuning._spec())).toMatchObject({
    'heartbeat-interval': 100,
    'auto-compaction-mode': mode,
    'auto-compaction-retention': retention,
  });
});

const mistakes: [EtcdTuningProps, string][] = [
  [
    { heartbeatInterval: Duration.millis(0) },
    'tuning: heartbeatInterval: 0ms is not a whole number of milliseconds above',
  ],
  [{ electionTimeout: Duration.millis(1000.5) }, 'tuning: electionTimeout: 1000.5ms is not a whole number'],
  [{ autoCompaction: AutoCompaction.revisions(0) }, 'tuning: autoCompaction: 0 is not a valid number of revisions'],
  [{ autoCompaction: AutoCompaction.periodic(Duration.hours(0)) }, 'tuning: autoCompaction: a duration of zero'],
];

test.each(mistakes.map(([props, message]) => ({ props, message })))('$message', ({ props, message }) => {
  expect(tuningProblems(EtcdTuning.of(props)._spec())).toEqual([expect.stringContaining(message)]);
});

test.each<[EtcdTuningProps, boolean]>([
  [{ heartbeatInterval: Duration.millis(200) }, true],
  [{ heartbeatInterval: Duration.millis(201) }, false],
  [{ heartbeatInterval: Duration.seconds(10), electionTimeout: Duration.seconds(50) }, true],
  [{ electionTimeout: Duration.seconds(51) }, false],
  [{ electionTimeout: Duration.days(1) }, false],
])('of times that etcd takes together: %j', (props, isTaken) => {
  const cluster = new EtcdCluster(Testing.chart(), 'orders', { tuning: EtcdTuning.of(props) });
  expect(cluster.node.validate()).toEqual(
    isTaken ? [] : [expect.stringContaining('tuning.electionTimeout: must be at least five times heartbeatInterval')],
  );
});
