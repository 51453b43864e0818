import type { S3 } from '../e2e/support/s3';
import { slowTest } from '../e2e/support/settings';
import type { Play } from '../e2e/watch/play';
import { versionsOf } from './support/member-versions';
import { applyVersion, begun, playOn, refused, upgrade } from './support/upgrades';

let play: Play;
let s3: S3;
beforeAll(async () => {
  ({ play, s3 } = await playOn('3.5.35', 'upgrade'));
});
afterAll(() => play?.end());

slowTest('a minor version cannot be skipped: it says so, and nothing is touched', async () => {
  const uids = async () => (await play.cluster.pods()).map(({ metadata }) => metadata.uid);
  const before = await uids();
  await applyVersion(play, '3.7.3');
  expect((await refused(play)).reason).toBe('MinorSkipped');
  expect(await versionsOf(play.cluster)).toEqual(['3.5.35', '3.5.35', '3.5.35']);
  expect(await uids()).toEqual(before);
  await applyVersion(play, '3.5.35');
  await play.cluster.ready(3);
});

slowTest('3.5 to 3.6: a verified snapshot first, then one member after the other', () => upgrade(play, s3, '3.6.16'));

slowTest('3.6 to 3.7, taken back when the first member runs it', async () => {
  await play.unnoticed('half way to 3.7.3 and back', 3, async () => {
    await applyVersion(play, '3.7.3');
    await begun(play, '3.7');
    await applyVersion(play, '3.6.16');
  });
  expect(await versionsOf(play.cluster)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
});

slowTest('3.6 to 3.7', () => upgrade(play, s3, '3.7.3'));

slowTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
