import { setTimeout as sleep } from 'node:timers/promises';
import { kubectl } from './kubectl';
import { controlPlaneNodes, nodeTest, onNode } from './node-driver';
import { Play } from './play';

const manifest = 'kube-apiserver.yaml';
const [live, aside] = [`/etc/kubernetes/manifests/${manifest}`, `/etc/kubernetes/${manifest}`];

let play: Play | undefined;
let planes: string[] = [];
afterAll(() => play?.end());

const isUp = () =>
  kubectl(['get', '--raw', '/readyz', '--request-timeout=2s']).then(
    () => true,
    () => false,
  );

async function apiServer(up: boolean): Promise<void> {
  for (const plane of planes) await onNode(plane, 'mv', up ? aside : live, up ? live : aside);
  while ((await isUp()) !== up) await sleep(500);
}

nodeTest('etcd and agents are killed while there is no API server: they come back without it', async () => {
  play = await Play.begin('api-server', { tls: true });
  const { cluster } = play;
  planes = await controlPlaneNodes();
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
    await apiServer(false);
    try {
      await Promise.all(pods.map(({ metadata, spec }) => onNode(spec.nodeName, 'sh', '-c', killAll(metadata.uid))));
      await sleep(40_000);
    } finally {
      await apiServer(true);
    }
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
