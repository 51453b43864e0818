import type { Manifest } from '../synth';
import { slowTest } from './support/settings';
import { Play, tell } from './watch/play';

let play: Play;
beforeAll(async () => {
  play = await Play.begin('two-reconcilers', { reconciler: { replicas: 2 } });
});
afterAll(() => play?.end());

const selector = '--selector=app.kubernetes.io/name=etcd-reconciler';
const holder = async (): Promise<string> => (await play.namespace.get('lease', 'etcd-reconciler')).spec.holderIdentity;

async function another(than: string, seconds: number): Promise<string> {
  return play.namespace.until('another holder', seconds, async () => {
    const now = await holder();
    return now && now !== than ? now : undefined;
  });
}

slowTest('one of two holds the Lease, and says so in its metrics', async () => {
  const { items } = await play.namespace.get('pods', selector);
  const names = items.map(({ metadata }: Manifest) => metadata.name);
  expect(names).toHaveLength(2);
  expect(names).toContain(await holder());
  const leaders = await Promise.all(
    names.map(async (name: string) => {
      const path = `/api/v1/namespaces/${play.namespace.name}/pods/http:${name}:8080/proxy/metrics`;
      const { stdout } = await play.namespace.kubectl(['get', '--raw', path]);
      return /^etcd_reconciler_leader(\{.*\})? 1$/m.test(stdout);
    }),
  );
  expect(leaders.filter(Boolean)).toHaveLength(1);
});

slowTest('the holder is killed while the cluster grows: the other goes on', async () => {
  const before = await holder();
  await play.converges('grown to 5, the holder killed', 5, async () => {
    await play.cluster.apply({ size: 5 });
    await play.namespace.until('the first step', 60, async () => (await play.cluster.record()).op);
    await play.namespace.kubectl(['delete', 'pod', before, '--grace-period=0', '--force']);
    const begun = Date.now();
    await another(before, 90);
    tell(`two-reconcilers: another holds the Lease ${((Date.now() - begun) / 1000).toFixed(1)} s after a kill`);
  });
});

slowTest('the holder is asked to go: it hands over at once', async () => {
  const before = await holder();
  await play.converges('shrunk to 3, the holder deleted', 3, async () => {
    await play.cluster.apply({ size: 3 });
    await play.namespace.kubectl(['delete', 'pod', before, '--wait=false']);
    const begun = Date.now();
    await another(before, 60);
    tell(`two-reconcilers: handed over ${((Date.now() - begun) / 1000).toFixed(1)} s after a deletion`);
  });
});

slowTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
