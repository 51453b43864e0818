// Restarts, all at once, without an API server, and with a volume lost meanwhile.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LocalCluster } from '../local/cluster.ts';
import { get } from '../local/get.ts';
import { agentUrlOf } from '../local/port.ts';
import { memberIds, seedPermits } from './checks/facts.ts';
import { scenario } from './support/scenario.ts';
import { smoke } from './support/smoke.ts';

const three = [0, 1, 2];

/** Sends the probes of the kubelet. */
async function isReady({ dir, tls }: LocalCluster, ordinal: number): Promise<boolean> {
  const world = JSON.parse(readFileSync(join(dir, 'world.json'), 'utf8'));
  const url = agentUrlOf(world, ordinal, '/readyz');
  const answer = await get(url, tls && readFileSync(tls.ca), 2_500).catch(() => undefined);
  return answer?.status === 200;
}

function killContainers(cluster: LocalCluster, ordinals: readonly number[]): void {
  for (const i of ordinals) {
    // A pod of the previous round may not be back yet.
    try {
      cluster.killEtcd(i);
      cluster.killAgent(i);
    } catch {}
  }
}

scenario('all members killed at once, again and again', { size: 3, tls: true }, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  const before = memberIds(cluster);
  for (let round = 0; round < (smoke ? 4 : 20); round++) {
    // Alternates between the containers alone, which start without a gate, and whole pods.
    if (round % 2 === 0) killContainers(cluster, three);
    else await Promise.all(three.map((i) => cluster.deletePod(i, { graceful: false })));
    await writer.more(10);
  }
  await play.converges('whole again', async () => undefined);
  expect(memberIds(cluster)).toEqual(before);
});

scenario('no API server, no reconciler; each member killed, then all', { size: 3, tls: false }, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  await cluster.stopReconciler();
  cluster.blockApi();
  const whole = async () => {
    await cluster.until(
      async () => (await Promise.all(three.map((i) => isReady(cluster, i)))).every(Boolean),
      'every pod is ready without the API server',
    );
    await writer.more(20);
  };
  for (const i of three) {
    killContainers(cluster, [i]);
    await whole();
  }
  killContainers(cluster, three);
  await whole();
  cluster.unblockApi();
  await play.converges('whole again', async () => cluster.startReconciler());
});

for (const lost of smoke ? [0] : [0, 2]) {
  scenario(`full restart with volume ${lost} lost`, { size: 3, tls: lost === 0 }, async (play) => {
    const { cluster } = play;
    await play.formed();
    const before = memberIds(cluster);
    await play.converges('whole again', async () => {
      await Promise.all(three.map((i) => cluster.stopKubelet(i)));
      await cluster.loseVolume(lost);
      for (const i of three) cluster.startKubelet(i);
      await cluster.until(() => cluster.record()?.members[lost]?.memberId !== before[lost], 'the member is replaced');
    });
    const now = memberIds(cluster);
    expect(Object.keys(now)).toEqual(Object.keys(before));
    for (const i of three) expect(now[i] === before[i]).toBe(i !== lost);
    expect(seedPermits(cluster)).toBe(1);
  });
}
