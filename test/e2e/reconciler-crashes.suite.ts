import { anotherReconciler, crashedAt, crashes, crashing } from './support/crash-points';
import { slowTest } from './support/settings';
import { Play, tell } from './watch/play';

let play: Play;
beforeAll(async () => {
  play = await Play.begin('crashes', { size: 1, tls: true, shape: crashing() });
});
afterAll(() => play?.end());

slowTest('it forms and grows, with the reconciler killed before and after each of its steps', async () => {
  await play.converges('grown to 3 with kills', 3, () => play.cluster.apply({ size: 3 }));
  await crashedAt(play.namespace, 'InitRecord', 'Seed', 'MarkSeeded', 'GrowPod');
  await crashedAt(play.namespace, 'AddLearner', 'AddLearner.call', 'IssuePermit', 'PromoteLearner', 'Promote.call');
});

slowTest('a member is replaced', async () => {
  const before = await play.cluster.memberId(1);
  await play.converges('replaced with kills', 3, async () => {
    await play.cluster.loseVolumes(1);
    await play.cluster.replaced(1, before);
  });
  await crashedAt(play.namespace, 'RemoveDead', 'Remove.call', 'Remove.finish');
  tell(`crashes: ${(await crashes(play.namespace)).length} kills`);
});

slowTest('it shrinks, under a reconciler that was not killed yet', async () => {
  await anotherReconciler(play.namespace);
  await play.converges('shrunk to 1 with kills', 1, () => play.cluster.apply({ size: 1 }));
  await crashedAt(play.namespace, 'Shrink', 'Remove.call', 'Remove.finish', 'LowerReplicas');
  tell(`crashes: ${(await crashes(play.namespace)).length} kills`);
});

slowTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(1));
