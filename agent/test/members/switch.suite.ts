// TLS is switched on and off under writes, and taken back, interrupted and killed half-way. The writer changes its scheme in the
// window in which clients may use both, as a client of the guide does.
import type { Minor } from '../harness/etcd-binaries.ts';
import type { Change } from '../local/options.ts';
import { memberIds, stoppedLeaders } from './checks/facts.ts';
import { elections } from './checks/history.ts';
import { switchPoints } from './support/crash-points.ts';
import { fullScenario, type Play, scenario } from './support/scenario.ts';
import { some } from './support/smoke.ts';

const minute = 60_000;
/** Longer than any test: the window ends when a test ends it. */
const open = { acceptPlaintextFor: 60 * minute };
const closed = { acceptPlaintextFor: 0 };

const plain = { size: 3, tls: 'later' } as const;
const safe = { size: 3, tls: true } as const;

/** Peer URLs of all members, without host and port. */
async function peerSchemes({ cluster }: Play): Promise<string[]> {
  const list: { members: { peerURLs: string[] }[] } = JSON.parse(
    await cluster.client().etcdctl('member', 'list', '-w', 'json'),
  );
  return list.members.map(({ peerURLs }) => peerURLs.map((url) => new URL(url).protocol).join(' '));
}

const size = ({ cluster }: Play) => cluster.spec.size;
const all = <T>(play: Play, value: T): T[] => Array(size(play)).fill(value);

/** The members speak to each other like this, and to clients by both schemes. */
async function inWindow(play: Play): Promise<void> {
  const { cluster } = play;
  await cluster.until(
    () => cluster.condition('TransportReady')?.reason === 'PlaintextAccepted',
    'clients may use both schemes',
    180,
  );
  await cluster.settled();
  const agents = await Promise.all(Object.keys(memberIds(cluster)).map((ordinal) => cluster.agent(Number(ordinal))));
  expect(agents.map(({ transport }) => transport?.clients)).toEqual(all(play, 'both'));
}

async function answersBy({ cluster }: Play, scheme: 'http' | 'https'): Promise<boolean> {
  const before = cluster.endpoints[0]!.startsWith('https') ? 'https' : 'http';
  cluster.clientsUse(scheme);
  const client = cluster.client();
  cluster.clientsUse(before);
  return client.etcdctl('--command-timeout=3s', 'get', 'x').then(
    () => true,
    () => false,
  );
}

const applied = ({ cluster }: Play, change: Change) => cluster.apply(change);

async function isOver(play: Play, scheme: 'http' | 'https'): Promise<void> {
  const { cluster } = play;
  const reason = scheme === 'https' ? 'Tls' : 'Plaintext';
  await cluster.until(() => cluster.condition('TransportReady')?.reason === reason, `only ${scheme} is left`, 180);
  await cluster.settled();
  expect(await peerSchemes(play)).toEqual(all(play, `${scheme}:`));
  expect(await answersBy(play, scheme)).toBe(true);
  expect(await answersBy(play, scheme === 'http' ? 'https' : 'http')).toBe(false);
}

async function switchedOn(play: Play, change: Change = {}): Promise<void> {
  await play.converges('window of TLS', async () => {
    await applied(play, { ...change, tls: 'on', spec: open });
    await inWindow(play);
  });
  play.cluster.clientsUse('https');
  await play.writer.more(30);
  await play.converges('TLS', async () => {
    await applied(play, { spec: closed });
    await isOver(play, 'https');
  });
}

async function switchedOff(play: Play): Promise<void> {
  await play.converges('window of plaintext', async () => {
    await applied(play, { tls: 'disabling' });
    await inWindow(play);
  });
  play.cluster.clientsUse('http');
  await play.writer.more(30);
  await play.converges('plaintext', async () => {
    await applied(play, { tls: 'off' });
    await isOver(play, 'http');
  });
}

/** No write failed for a whole second, no member was replaced, and no leader was stopped while it led. */
async function unnoticed(play: Play, work: () => Promise<void>, rolls: number): Promise<void> {
  const { cluster, writer } = play;
  const [before, since] = [memberIds(cluster), writer.now];
  const elected = elections(writer.history);
  await work();
  await writer.more(30);
  expect(play.untaken(since)).toEqual([]);
  expect(memberIds(cluster)).toEqual(before);
  expect(stoppedLeaders(cluster)).toEqual([]);
  expect(elections(writer.history) - elected).toBeLessThanOrEqual(rolls);
}

for (const minor of some<Minor>(['3.5', '3.6', '3.7'], ['3.6'])) {
  scenario(`TLS of a ${minor} cluster switched on and off`, { ...plain, minor }, async (play) => {
    await play.formed();
    await unnoticed(play, () => switchedOn(play), 2);
    await unnoticed(play, () => switchedOff(play), 2);
  });
}

fullScenario('TLS switched on in a cluster of one', { ...plain, size: 1 }, async (play) => {
  await play.formed();
  await switchedOn(play);
  await switchedOff(play);
});

fullScenario('TLS taken back half-way, and switched on after all', plain, async (play) => {
  const { cluster } = play;
  await play.formed();
  await unnoticed(
    play,
    async () => {
      await applied(play, { tls: 'on', spec: open });
      await cluster.until(
        async () => (await cluster.agent(2).catch(() => undefined))?.transport?.clients === 'both',
        'the first member has certificates',
        90,
      );
      await play.converges('taken back', async () => {
        await applied(play, { tls: 'off' });
        await isOver(play, 'http');
      });
      await applied(play, { tls: 'on', spec: open });
      await inWindow(play);
      await play.converges('taken back again', async () => {
        await applied(play, { tls: 'off' });
        await isOver(play, 'http');
      });
    },
    4,
  );
  await switchedOn(play);
});

fullScenario('plaintext taken back half-way', safe, async (play) => {
  await play.formed();
  await unnoticed(
    play,
    async () => {
      await applied(play, { tls: 'disabling' });
      await inWindow(play);
      await play.converges('taken back', async () => {
        await applied(play, { tls: 'on', spec: closed });
        await isOver(play, 'https');
      });
    },
    2,
  );
});

scenario('a member lost, and one more, while both schemes are known', plain, async (play) => {
  const { cluster } = play;
  await play.formed();
  await applied(play, { tls: 'on', spec: open });
  await inWindow(play);
  const before = memberIds(cluster)[1];
  await play.converges('volume lost', async () => {
    await cluster.loseVolume(1);
    await cluster.until(() => memberIds(cluster)[1] !== before, 'the member is replaced', 120);
  });
  expect(await peerSchemes(play)).toEqual(all(play, 'http: https:'));
  await play.converges('grown', () => cluster.apply({ spec: { size: 5 } }));
  expect(await peerSchemes(play)).toEqual(all(play, 'http: https:'));
  cluster.clientsUse('https');
  await applied(play, { spec: closed });
  await isOver(play, 'https');
});

scenario('TLS switched on and off, the reconciler and gates killed at each step', plain, async (play) => {
  const { cluster, notes } = play;
  await play.formed();
  cluster.reconcilerCrashesAt('each');
  cluster.gateCrashesAt('each');
  await switchedOn(play);
  await switchedOff(play);
  for (const point of switchPoints)
    expect(cluster.crashed).toEqual(expect.arrayContaining([`before ${point}`, `after ${point}`]));
  notes.push(`${cluster.crashed.length} kills`);
});

fullScenario('manifests without certificates, too early: held, and nothing is lost', safe, async (play) => {
  const { cluster } = play;
  await play.formed();
  const since = play.writer.now;
  await applied(play, { tls: 'off' });
  await cluster.until(() => cluster.condition('TransportReady')?.reason === 'TlsRefused', 'it is refused', 60);
  await play.writer.more(30);
  await play.converges('put back', () => applied(play, { tls: 'on' }));
  expect(play.untaken(since)).toEqual([]);
});
