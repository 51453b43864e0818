// The sidecar next to a real etcd: killed after each of its steps, without a quorum, without the API, with other
// certificates.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { serveSteps } from '../../src/member/steps.ts';
import { availableMinors, type Minor } from '../harness/etcd-binaries.ts';
import { LocalCluster } from '../local/cluster.ts';
import { type Answer, get } from '../local/get.ts';
import { agentUrlOf } from '../local/port.ts';
import { some } from './support/smoke.ts';

function readyz(cluster: LocalCluster, ordinal: number): Promise<Answer> {
  const ca = cluster.tls && readFileSync(cluster.tls.ca);
  return get(agentUrlOf(cluster.world, ordinal, '/readyz'), ca, 3_000);
}

const untilReady = (cluster: LocalCluster, ordinal: number, status: number, body = /./) =>
  cluster.until(async () => {
    const answer = await readyz(cluster, ordinal).catch(() => undefined);
    return answer?.status === status && body.test(answer.body);
  }, `/readyz of ordinal ${ordinal} is ${status} ${body}`);

/** Steps until the member serves for the first time; a killed etcd reaches no further ones. */
const beginning = ['wal.seen', 'config.sealed', 'identity.sealed', 'identity.verified'] as const;

/** Forms one member while the sidecar, or etcd, is killed right after these steps. */
async function formsThough(minor: Minor, who: 'serve' | 'etcd', steps: readonly string[]): Promise<void> {
  await using cluster = await LocalCluster.start({ size: 1, minor });
  if (who === 'serve') cluster.serveCrashesAt(steps);
  else cluster.etcdCrashesAt(steps);
  const isKilled = () => steps.every((step) => cluster.crashed.includes(`${who} ${step}`));
  await cluster.until(isKilled, `${who} was killed after ${steps.join(', ')}`);
  await untilReady(cluster, 0, 200);
  await cluster.settled();
  const { volume, etcd } = await cluster.agent(0);
  expect(volume.identity).toMatchObject({ state: 'sealed', memberId: etcd!.memberId, clusterId: etcd!.clusterId });
  expect(cluster.record()).toMatchObject({ epoch: 1, clusterId: etcd!.clusterId });
}

for (const minor of some<Minor>(availableMinors(), [])) {
  test(
    `${minor}: killed after each step, it ends where it would have`,
    () => formsThough(minor, 'serve', serveSteps),
    300_000,
  );
  if (minor !== '3.6') continue;
  for (const step of beginning) {
    test(`${minor}: etcd killed after ${step}`, () => formsThough(minor, 'etcd', [step]), 300_000);
  }
}

for (const minor of some<Minor>(['3.4', '3.5', '3.7'], [])) {
  test(`${minor}: a learner is not ready`, async () => {
    // No lag is small enough, so it is never promoted.
    await using cluster = await LocalCluster.start({ size: 3, minor, settings: { promoteLag: -1 } });
    const isLearner = async () => (await cluster.agent(1).catch(() => undefined))?.etcd?.isLearner === true;
    await cluster.until(isLearner, 'ordinal 1 is a learner');
    for (let i = 0; i < 5; i++) {
      expect(await readyz(cluster, 1)).toMatchObject({ status: 503 });
      await sleep(300);
    }
    expect(await cluster.agent(1)).toMatchObject({ state: 'Running', etcd: { up: true, hasLeader: true } });
    await untilReady(cluster, 0, 200);
  }, 300_000);
}

/** Fingerprint of the certificate that the sidecar presents now. */
function shown({ world, tls }: LocalCluster, ordinal: number): Promise<string> {
  const { hostname, port } = new URL(agentUrlOf(world, ordinal, '/'));
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), ca: readFileSync(tls!.ca) }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

for (const minor of some<Minor>(['3.5', '3.7'], ['3.7'])) {
  test(`${minor}: ready without the API, not without a quorum; with new certificates at once`, async () => {
    await using cluster = await LocalCluster.start({ size: 3, minor, tls: true });
    await cluster.settled();
    const { rev } = cluster.record()!;

    cluster.blockApi();
    cluster.killAgent(0);
    await untilReady(cluster, 0, 200);
    const alone = await cluster.agent(0);
    expect(alone).toMatchObject({ state: 'Running', reason: 'RecordUnreachable' });
    expect(alone.recordRev).toBeGreaterThan(rev - 5);
    cluster.killEtcd(0);
    await untilReady(cluster, 0, 503);
    await untilReady(cluster, 0, 200);
    cluster.unblockApi();

    const before = await shown(cluster, 0);
    const { certificate } = await cluster.agent(0);
    await cluster.replaceCertificates();
    expect(await shown(cluster, 0)).not.toBe(before);
    expect(Date.parse((await cluster.agent(0)).certificate!.notAfter)).toBeGreaterThanOrEqual(
      Date.parse(certificate!.notAfter),
    );

    await cluster.pauseReconciler();
    await Promise.all([cluster.stopKubelet(1), cluster.stopKubelet(2)]);
    await untilReady(cluster, 0, 503);
    const { etcd, reason } = await cluster.agent(0);
    expect(reason).toBeUndefined();
    expect(etcd).toMatchObject({ up: true });
    cluster.startKubelet(1);
    await untilReady(cluster, 0, 200);
    cluster.startKubelet(2);
    cluster.resumeReconciler();
    await cluster.settled();
  }, 300_000);
}
