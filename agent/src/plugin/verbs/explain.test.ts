import { agentReasons } from '../../protocol/agent-reasons.ts';
import { reasons } from '../../protocol/reasons.ts';
import { userReasons } from '../../protocol/user-reasons.ts';
import { PluginTest } from '../plugin.fixture.ts';
import { explanations, knownReasons } from './explain.ts';

test('every reason of a condition, an agent and an EtcdUser is explained, in 80 columns', () => {
  const all = [...Object.keys(reasons), ...agentReasons, ...Object.keys(userReasons)];
  expect(all.filter((reason) => explanations(reason, 80).every(({ text }) => text.trim().length < 10))).toEqual([]);
  expect(all.filter((reason) => !knownReasons().includes(reason))).toEqual([]);
  const wide = all.filter((reason) =>
    explanations(reason, 80).some(({ text }) =>
      text.split('\n').some((line) => line.length > 80 && line.trim().includes(' ')),
    ),
  );
  expect(wide).toEqual([]);
});

test.each(['AnotherRuns', 'StoreRefused', 'NotSeen'])('%s, a reason of an EtcdBackup', (reason) => {
  expect(explanations(reason, 80).map(({ title }) => title)).toContainEqual(
    expect.stringContaining('of an EtcdBackup'),
  );
});

test('explain needs no API server, and takes a reason in any case', async () => {
  await using plugin = await PluginTest.start();
  const ended = await plugin.runWords(['explain', 'memberDown']);
  expect(ended.exit).toBe(0);
  expect(ended.out).toMatch(/^MemberDown, of an EtcdCluster\n {2}A member does not answer\. The message names/);
  expect(ended.out).not.toMatch(/\]\(|`/);
  expect(plugin.api.requests).toEqual([]);
});

const said = (reason: string) =>
  explanations(reason, 80)
    .map(({ title, text }) => `${title}\n${text}`)
    .join('\n')
    .replaceAll(/\s+/g, ' ');

test('a link has its address: page and heading', () => {
  const lost = 'docs/operations/recover-from-failures.md#the-volumes-of-a-majority-are-lost';
  expect(said('MajorityVolumesLost')).toContain(`the volumes of a majority are lost (${lost}) has both ways.`);
  expect(said('AuthorityLost')).toContain('replace the authority (docs/clusters/tls.md#replace-an-authority), which');
});

test('a link to a reason is that reason, for explain', () => {
  expect(said('VolumeSetBack')).toContain('joins again as with VolumeLost, and its data');
});

test('a reason that only an EtcdRestore reports is of an EtcdRestore', () => {
  expect(said('SnapshotRefused')).toMatch(/^SnapshotRefused, of an EtcdRestore The snapshot/);
});

test.each([
  ['EtcdReconcilerDown', /^EtcdReconcilerDown, an alert\n {2}Critical: no reconciler/],
  ['EtcdQuorumLost', /^EtcdQuorumLost, an alert\n {2}critical/],
])('the alert %s', async (alert, text) => {
  await using plugin = await PluginTest.start();
  expect(await plugin.runWords(['explain', alert])).toMatchObject({ exit: 0, out: expect.stringMatching(text) });
});

test('a reason that does not exist', async () => {
  await using plugin = await PluginTest.start();
  expect(await plugin.runWords(['explain', 'MemberDead'])).toMatchObject({
    exit: 3,
    err: expect.stringMatching(/^error: there is no reason or alert 'MemberDead'; did you mean .*MemberDown.*\?\n$/),
  });
});
