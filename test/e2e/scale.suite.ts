import { slowTest } from './support/settings';
import { Play } from './watch/play';

let play: Play;
beforeAll(async () => {
  play = await Play.begin('scale');
});
afterAll(() => play?.end());

slowTest.each([5, 3, 1])('to %i by apply alone', async (size) => {
  await play.converges(`to ${size} by apply`, size, () => play.cluster.apply({ size }));
  const list = JSON.parse(await play.cluster.etcdctl(['member', 'list', '-w', 'json']));
  expect(list.members.map(({ name }: { name: string }) => name).sort()).toEqual(
    Array.from({ length: size }, (_, ordinal) => `orders-${ordinal}`),
  );
});

slowTest('to three by kubectl scale', async () => {
  const scale = ['scale', 'etcdcluster', 'orders', '--replicas=3'];
  await play.converges('to 3 by kubectl scale', 3, () => play.namespace.kubectl(scale));
});

slowTest('an even size is refused, and says why', async () => {
  const scale = play.namespace.kubectl(['scale', 'etcdcluster', 'orders', '--replicas=4']);
  await expect(scale).rejects.toThrow(/even/);
});

slowTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
