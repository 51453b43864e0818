import { setTimeout as sleep } from 'node:timers/promises';
import { withoutApiServer } from './support/api-server';
import { nodeTest, onNode } from './support/node-driver';
import { Play } from './watch/play';

let play: Play | undefined;
afterAll(() => play?.end());

nodeTest('etcd and agents are killed while there is no API server: they come back without it', async () => {
  play = await Play.begin('api-server', { tls: true });
  const { cluster } = play;
  const pods = await cluster.pods();
  const restarts = async () =>
    (await cluster.pods()).map(({ status }) =>
      [...status.containerStatuses, ...status.initContainerStatuses].reduce(
        (sum, { restartCount }) => sum + restartCount,
        0,
      ),
    );
  const [membersBefore, restartsBefore] = [await cluster.memberIds(), await restarts()];
  await play.converges('every container killed without an API server, 40 s', 3, async () => {
    await withoutApiServer(async () => {
      await Promise.all(pods.map(({ metadata, spec }) => onNode(spec.nodeName, 'sh', '-c', killAll(metadata.uid))));
      await sleep(40_000);
    });
    await play!.namespace.until('restarts to be counted', 60, async () =>
      (await restarts()).every((count, index) => count > restartsBefore[index]!) ? true : undefined,
    );
  });
  expect(await cluster.memberIds()).toEqual(membersBefore);
  await play.ends(3);
});

/** Every process of the pod but the one that holds its namespaces. */
const killAll = (uid: string): string =>
  `for p in /proc/[0-9]*; do grep -qE '${uid.replaceAll('-', '[-_]')}' $p/cgroup 2>/dev/null || continue; [ "$(cat $p/comm)" = pause ] || kill -9 \${p#/proc/}; done`;
