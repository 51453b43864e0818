import { EtcdVersion } from '../../src';
import type { Manifest } from '../synth';
import { playWithNightly } from './orders-backups';
import type { Play } from './play';
import type { S3 } from './s3';
import { slowTest } from './settings';

let play: Play;
let s3: S3;
beforeAll(async () => {
  ({ play, s3 } = await playWithNightly('upgrade', { props: { version: EtcdVersion.of('3.5.35') } }));
});
afterAll(() => play?.end());

interface Member {
  readonly name: string;
  readonly version: string;
  readonly leads: boolean;
}

/** As each tells of itself. */
async function members(): Promise<Member[]> {
  const list = JSON.parse(await play.cluster.etcdctl(['member', 'list', '-w', 'json']));
  const found = JSON.parse(await play.cluster.etcdctl(['endpoint', 'status', '--cluster', '-w', 'json']));
  return found.map(({ Status: { header, version, leader } }: Manifest) => ({
    name: list.members.find(({ ID }: Manifest) => ID === header.member_id).name,
    version,
    leads: leader === header.member_id,
  }));
}

const versions = async () => (await members()).map(({ version }) => version);
const snapshots = async () => (await s3.files()).filter((file) => /[0-9a-f]{6}\.json$/.test(file)).length;

const apply = (version: string) => play.cluster.apply({ version: EtcdVersion.of(version) });

/** By apply alone; the leader is the last. */
async function upgrade(version: string): Promise<void> {
  const leader = (await members()).find(({ leads }) => leads)!.name;
  await play.converges(`to ${version}`, 3, () => apply(version));
  expect(await versions()).toEqual([version, version, version]);
  const pods = await play.cluster.pods();
  const last = Math.max(...pods.map(({ metadata }) => Date.parse(metadata.creationTimestamp)));
  const led = pods.find(({ metadata }) => metadata.name === leader)!;
  expect(Date.parse(led.metadata.creationTimestamp)).toBe(last);
}

slowTest('a minor version cannot be skipped: it says so, and nothing is touched', async () => {
  const uids = async () => (await play.cluster.pods()).map(({ metadata }) => metadata.uid);
  const before = await uids();
  await apply('3.7.3');
  const refused = await play.namespace.until('the refusal', 60, async () => {
    const condition = await play.cluster.condition('Accepted');
    return condition?.status === 'False' ? condition : undefined;
  });
  expect(refused.reason).toBe('MinorSkipped');
  expect(await versions()).toEqual(['3.5.35', '3.5.35', '3.5.35']);
  expect(await uids()).toEqual(before);
  await apply('3.5.35');
  await play.cluster.ready(3);
});

slowTest('3.5 to 3.6: a verified snapshot first, then one member after the other', async () => {
  const had = await snapshots();
  await upgrade('3.6.16');
  expect(await snapshots()).toBe(had + 1);
});

slowTest('3.6 to 3.7, taken back when the first member runs it', async () => {
  await play.converges('half way to 3.7.3 and back', 3, async () => {
    await apply('3.7.3');
    await play.namespace.until('a member of 3.7', 240, async () => {
      const found = await versions().catch(() => []);
      return found.some((version) => version.startsWith('3.7.')) ? found : undefined;
    });
    await apply('3.6.16');
  });
  expect(await versions()).toEqual(['3.6.16', '3.6.16', '3.6.16']);
});

slowTest('3.6 to 3.7', () => upgrade('3.7.3'));

slowTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
