import { setTimeout as sleep } from 'node:timers/promises';
import { Size } from 'cdk8s';
import { EtcdVersion, NoSpacePolicy } from '../../src';
import { kubectl } from '../e2e/support/kubectl';
import { MemberCluster } from '../e2e/support/member-cluster';
import { Namespace } from '../e2e/support/namespace';
import { backUp } from '../e2e/support/orders-backups';
import { S3 } from '../e2e/support/s3';
import { slowTest } from '../e2e/support/settings';
import { applyCrds, tell } from '../e2e/watch/play';
import { drain } from '../operations/support/drain';
import { hasSizedStorage, sizedStorageClass, sizedTest } from '../operations/support/sized-storage';
import { Beside, names } from './support/beside';
import { Causes, type Fault, quota } from './support/causes';
import { withBackups } from './support/monitored';
import { Monitoring } from './support/monitoring';

/** Alerts without a real fault here. promtool fires them, in test/alerts. */
const notCaused: Readonly<Record<string, string>> = {
  EtcdRootExpires: 'a root ends after ten years',
  EtcdTransportNotReady:
    'a switch of TLS that does not get on has to last an hour, and its cause has an alert of its own',
  EtcdPlaintextAccepted: 'it waits for 25 hours, which the factor makes two and a half',
  EtcdDiskSlow: 'there is no slow disk',
  EtcdRevocationWaits: 'what keeps a revocation for an hour has an alert of its own, which is earlier',
  EtcdVersionUnsafe: 'the images of the nodes are the newest patches',
  EtcdVolumeFull: 'it would stop a member that the other faults need; the suite of operations fills volumes',
  EtcdOperationStuck: 'what keeps an operation for an hour has an alert of its own, which is earlier',
};

const smoke = Boolean(process.env.E2E_SMOKE);

let namespace: Namespace;
let cluster: MemberCluster;
let monitoring: Monitoring;
let beside: Beside;
let causes: Causes;
let s3: S3;
const caused = new Set<string>();
/** When those beside were applied. */
let since = 0;

beforeAll(async () => {
  await applyCrds();
  namespace = await Namespace.create('alerts');
  s3 = await S3.start(namespace);
  if (!smoke) beside = await Beside.prepare(namespace);
  cluster = await MemberCluster.create(namespace, {
    users: true,
    props: {
      version: EtcdVersion.of(smoke ? '3.6.16' : '3.5.35'),
      quota: Size.mebibytes(quota),
      onNoSpace: NoSpacePolicy.REPORT,
      volume: { size: Size.gibibytes(2), ...(hasSizedStorage && { storageClass: sizedStorageClass }) },
    },
    shape: withBackups(() => s3),
  });
  await cluster.apply({ size: 3 });
  await cluster.ready(3);
  await backUp(namespace, cluster.name, 'first');
  causes = new Causes(namespace, cluster, s3);
  monitoring = await Monitoring.begin(namespace);
  await namespace.until('the targets', 180, async () => {
    const { up, down } = await monitoring.targets();
    return up.length === 7 && down.length === 0 ? up : undefined;
  });
});
afterAll(async () => {
  if (drained) await kubectl(['uncordon', drained]);
  await Promise.all([monitoring?.end(), namespace?.delete()]);
});

/** Node that is drained. */
let drained: string | undefined;

/** None is expected, so that each that fires is listed. */
async function quietly(what: string, work: () => Promise<unknown>): Promise<void> {
  const since = Date.now();
  await work();
  await sleep(20_000);
  const fired = await monitoring.firedSince('orders', since);
  tell(`alerts: ${what}, ${Math.round((Date.now() - since) / 1_000)} s: ${fired.join(', ') || 'none'}`);
  expect(fired).toEqual([]);
  expect(await monitoring.alerts('orders')).toEqual([]);
}

test('a healthy cluster raises no alert', () => quietly('healthy', () => sleep(smoke ? 40_000 : 180_000)));

test('a rolling restart raises none', () =>
  quietly('rolling restart', async () => {
    await cluster.apply({ podAnnotations: { again: 'yes' } });
    await sleep(5_000);
    await cluster.ready(3);
  }));

slowTest('an upgrade to the next minor version raises none', () =>
  quietly('upgrade', async () => {
    await cluster.apply({ version: EtcdVersion.of('3.6.16') });
    await cluster.ready(3);
  }),
);

slowTest('the drain of a node raises none', () =>
  quietly('drain', async () => {
    drained = (await cluster.pods())[0].spec.nodeName as string;
    await drain(drained, cluster.name, 120);
    await sleep(10_000);
    await kubectl(['uncordon', drained]);
    drained = undefined;
    await cluster.ready(3);
  }),
);

/** Causes a fault, until its alert fires, alone; then ends it, until the alert has resolved. */
async function raises(fault: Fault, of = 'orders', since = Date.now()): Promise<void> {
  const { alert, beside: other, tolerated, cause, cure } = fault;
  const expected = [alert, ...(other ? [other] : [])].sort();
  for (const each of expected) caused.add(each);
  if (of === 'orders') expect(await monitoring.alerts(of)).toEqual([]);
  const seconds = () => Math.round((Date.now() - since) / 1_000);
  let fires = 0;
  try {
    await cause();
    await namespace.until(`${expected} to fire`, 540, async () => {
      const now = await monitoring.alerts(of);
      return expected.every((each) => now.includes(each)) ? now : undefined;
    });
    fires = seconds();
  } finally {
    await cure();
  }
  await namespace.until('no alert to fire', 400, async () => {
    const now = await monitoring.alerts(of);
    return now.length === 0 ? true : undefined;
  });
  const fired = await monitoring.firedSince(of, since);
  tell(`alerts: ${fired.join(', ')}: fired after ${fires} s, resolved after ${seconds()} s`);
  expect(fired.filter((each) => each !== tolerated)).toEqual(expected);
}

const onOrders: readonly (readonly [what: string, fault: (causes: Causes) => Fault, slow?: 'slow' | 'sized'])[] = [
  ['no reconciler runs', (all) => all.reconcilerDown()],
  ['an older version is asked for', (all) => all.specRefused()],
  ['a pod is gone', (all) => all.podsGone('EtcdDegraded', 1)],
  ['the pods of a majority are gone', (all) => all.podsGone('EtcdQuorumLost', 1, 2), 'slow'],
  ['the StatefulSet is gone', (all) => all.manifestsMissing(), 'slow'],
  ['the reconciler has no rights', (all) => all.rightsMissing(), 'slow'],
  ['a backup fails', (all) => all.backupFails(), 'slow'],
  ['the pod of a backup lacks a Secret', (all) => all.backupWaits(), 'slow'],
  ['an authority is lost', (all) => all.authorityLost(), 'slow'],
  ['no user is left', (all) => all.noUsers(), 'slow'],
  ['the leader changes again and again', (all) => all.leaderChanges(), 'slow'],
  ['writes hang', (all) => all.writesHang(), 'slow'],
  ['members are not scraped', (all) => all.scrapeMissing(), 'slow'],
  ['the agents are not scraped', (all) => all.agentScrapeMissing(), 'slow'],
  ['a volume is nearly full', (all) => all.volumeAlmostFull(), 'sized'],
  ['the database is nearly full', (all) => all.databaseAlmostFull(), 'slow'],
  ['the database is full', (all) => all.databaseFull(), 'slow'],
  ['a volume is lost while no reconciler runs', (all) => all.memberWaits(), 'slow'],
];

for (const [what, fault, pace] of onOrders) {
  const work = async () => {
    await raises(fault(causes));
    await cluster.ready(3);
  };
  if (pace === 'sized') sizedTest(what, work);
  else (pace === 'slow' ? slowTest : test)(what, work);
}

/** Their faults have been there since the clusters were applied. */
const onOthers: readonly (readonly [what: string, of: string, alert: string, cure: () => Promise<unknown>])[] = [
  [
    'the image of a new cluster cannot be pulled',
    names.noImage,
    'EtcdNotFormed',
    async () => {
      beside.giveImage();
      await causes.apply();
    },
  ],
  ['the only pod is not ready', names.gated, 'EtcdUnavailable', () => beside.openGate()],
  ['a certificate is not renewed', names.expiring, 'EtcdCertificateExpires', () => beside.certify(-1, 89)],
];

slowTest('clusters are applied with a fault', async () => {
  since = Date.now();
  cluster.reshape((parts) => {
    withBackups(() => s3)(parts);
    beside.add(parts);
  });
  await causes.apply();
});

slowTest.each(onOthers)('%s', (_, of, alert, cure) => raises({ alert, cause: async () => {}, cure }, of, since));

slowTest('each alert had its fault, or says why not', async () => {
  const all = new Set(await monitoring.rules());
  expect([...caused, ...Object.keys(notCaused)].sort()).toEqual([...all].sort());
});
