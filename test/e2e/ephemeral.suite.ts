import { slowTest } from './support/settings';
import { Play } from './watch/play';

let play: Play;
beforeAll(async () => {
  play = await Play.begin('ephemeral', { props: { volume: { ephemeral: true } } });
});
afterAll(() => play?.end());

slowTest.each([2, 0])('pod %i is deleted, and with it its data: another member comes', async (ordinal) => {
  const before = await play.cluster.memberId(ordinal);
  await play.converges(`pod ${ordinal} deleted`, 3, async () => {
    await play.cluster.deletePods(ordinal);
    await play.cluster.replaced(ordinal, before);
  });
});

slowTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));

slowTest('all pods at once: it is held and says so, and no empty cluster takes its place', async () => {
  const { epoch, token, clusterId } = await play.cluster.record();
  await play.cluster.deletePods(0, 1, 2);
  await play.namespace.until('Stalled for good', 240, async () => {
    const held = await play.cluster.condition('Stalled');
    // Until the last agent answers, only a majority is known.
    return held?.status === 'True' && held.reason === 'AllVolumesLost' ? held : undefined;
  });
  expect(await play.cluster.record()).toMatchObject({ epoch, token, clusterId });
});
