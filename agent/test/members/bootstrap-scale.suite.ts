// A cluster is formed, grown, shrunk, and scaled by hand, with agents and reconciler killed meanwhile.
import { setTimeout as sleep } from 'node:timers/promises';
import { Draw } from '../../../test/chaos/draw.ts';
import type { LocalCluster } from '../local/cluster.ts';
import type { StatefulSetObject } from '../local/objects.ts';
import { memberIds, seedPermits, tombstoned } from './checks/facts.ts';
import { scenario } from './support/scenario.ts';
import { smoke, some } from './support/smoke.ts';

/** Kills agents and the reconciler at random times, about ten times during the work. */
async function underKills(cluster: LocalCluster, size: number, work: Promise<void>): Promise<void> {
  const draw = new Draw(size);
  let done = false;
  const finished = work.finally(() => {
    done = true;
  });
  for (let kills = 0; !done && kills < 10; kills++) {
    await Promise.race([finished, sleep(draw.between(300, 1_800))]);
    if (done) break;
    const victim = draw.below(size + 1);
    // A pod that does not run yet has no process to kill.
    try {
      if (victim === size) cluster.killReconciler();
      else cluster.killAgent(victim);
    } catch {}
  }
  await finished;
}

for (const size of some([1, 3, 5, 7], [3])) {
  const tls = size === 3 || size === 5;
  scenario(
    `${size} members${tls ? ' with TLS' : ''}, agents and reconciler killed at random`,
    { size, tls },
    async (play) => {
      const { cluster } = play;
      await underKills(cluster, size, play.formed());
      expect(seedPermits(cluster)).toBe(1);
      expect(Object.keys(memberIds(cluster))).toEqual(Array.from({ length: size }, (_, i) => String(i)));
      expect(cluster.status().voters).toBe(size);
    },
  );
}

scenario('1, 3, 5, 3, 1 members under writes', { size: 1, tls: false }, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  const first = memberIds(cluster);
  for (const size of some([3, 5, 3, 1], [3, 1])) {
    const before = memberIds(cluster);
    await play.converges(`to ${size}`, () => cluster.apply({ spec: { size } }));
    await writer.more(20);
    const now = memberIds(cluster);
    expect(Object.keys(now)).toEqual(Array.from({ length: size }, (_, i) => String(i)));
    const removed = Object.entries(before).filter(([ordinal]) => !(ordinal in now));
    expect(tombstoned(cluster)).toEqual(expect.arrayContaining(removed.map(([, id]) => id)));
    expect(now).toMatchObject(Object.fromEntries(Object.entries(before).filter(([ordinal]) => ordinal in now)));
  }
  expect(memberIds(cluster)).toEqual(first);
});

if (!smoke) {
  scenario('scaled to 0 by hand, and the manifests applied again', { size: 3, tls: true }, async (play) => {
    const { cluster } = play;
    await play.formed();
    const before = memberIds(cluster);
    const scaled = () =>
      cluster.store.update<StatefulSetObject>('stateful-set', undefined, (set) => ({ ...set, replicas: 0 }));
    await play.converges('whole again', async () => {
      scaled();
      await cluster.apply({});
      await cluster.until(() => cluster.status().readyVoters !== 3, 'the pods go');
    });
    expect(memberIds(cluster)).toEqual(before);
    expect(seedPermits(cluster)).toBe(1);
  });
}
