import { setTimeout as sleep } from 'node:timers/promises';
import { Size } from 'cdk8s';
import { NoSpacePolicy } from '../../src';
import { slowTest } from '../e2e/support/settings';
import { Play, tell } from '../e2e/watch/play';
import { database, overwrite } from './support/fill';

const mebibyte = 1024 ** 2;
const quota = 16;

let play: Play;
beforeAll(async () => {
  play = await Play.begin('no-space', { users: true, props: { quota: Size.mebibytes(quota) } });
});
afterAll(() => play?.end());

/** Fills the database nearly to the quota, with revisions older than the 1,000 that a compaction keeps. */
async function nearlyFill(): Promise<void> {
  while ((await database(play.cluster)).dbSize < (quota - 4) * mebibyte)
    expect(await overwrite(play.cluster, 1)).toBeUndefined();
  const { revision } = await database(play.cluster);
  await play.namespace.until('revisions beyond it', 120, async () => {
    const now = await database(play.cluster);
    return now.revision > revision + 1_000 ? now : undefined;
  });
}

const isRefused = async () => expect(await overwrite(play.cluster, 2 * quota)).toContain('database space exceeded');

const alarm = (status: string) =>
  play.namespace.until(`the alarm to be ${status}`, 180, async () => {
    const condition = await play.cluster.condition('Alarm');
    return condition?.status === status ? condition : undefined;
  });

/** No member was restarted for it. */
const restarts = async () =>
  (await play.cluster.pods()).map(({ metadata, status }) => [
    metadata.uid,
    ...status.containerStatuses.map(({ restartCount }: { restartCount: number }) => restartCount),
  ]);

async function whole(): Promise<void> {
  for (const ordinal of [0, 1, 2]) {
    const { dbSize, errors } = await database(play.cluster, ordinal);
    expect(errors).toEqual([]);
    expect(dbSize).toBeLessThan(0.9 * quota * mebibyte);
  }
}

slowTest('the quota is reached: history is dropped, members are defragmented, and writes go on', async () => {
  const before = await restarts();
  await nearlyFill();
  const since = Date.now();
  await play.converges('full, and cleared by policy', 3, async () => {
    await isRefused();
    expect(await alarm('True')).toMatchObject({ reason: 'NoSpace' });
    await alarm('False');
  });
  expect(await restarts()).toEqual(before);
  await whole();
  const told = await play.cluster.told(since);
  tell(`no-space: told ${told.join(', ')}`);
  expect(told).toEqual(expect.arrayContaining(['NoSpace', 'ClearingNoSpace', 'NoAlarm']));
});

slowTest('with the policy to report, the status says so, and a person decides', async () => {
  const before = await restarts();
  await play.cluster.apply({ onNoSpace: NoSpacePolicy.REPORT });
  await play.cluster.ready(3);
  await nearlyFill();
  await isRefused();
  await alarm('True');
  expect(await play.cluster.condition('Available')).toMatchObject({ status: 'False', reason: 'NoSpace' });
  await sleep(20_000);
  expect((await play.cluster.record()).op).toBeUndefined();
  expect(await alarm('True')).toMatchObject({ reason: 'NoSpace' });
  await isRefused();
  await play.converges('reported, then cleared by hand', 3, async () => {
    const { revision } = await database(play.cluster);
    await play.cluster.etcdctl(['compact', String(revision - 500)]);
    await play.cluster.etcdctl(['defrag', '--cluster']);
    await play.cluster.etcdctl(['alarm', 'disarm']);
    await alarm('False');
  });
  expect(await restarts()).toEqual(before);
  await whole();
});

slowTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
