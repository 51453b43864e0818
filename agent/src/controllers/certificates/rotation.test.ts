import { certificatesIn, idOf, shortId } from '../../lib/certificates.ts';
import { known, unknown } from '../../protocol/known.ts';
import { contentOf } from './content.ts';
import { crossSign, issueIntermediate, issueRoot } from './issue.ts';
import { lifetimes } from './lifetimes.ts';
import type { MemberReport } from './rotation.ts';
import { begin, day, type SecretName, TestSecrets } from './secrets.fixture.ts';

const ends = { peers: 'peer', clients: 'server' } as const;
const first = (pem: string) => shortId(idOf(certificatesIn(pem)![0]!));

/** Returns the report of a member that has mounted the current Secrets, and whose etcd has loaded these roots. */
const reportOf = (
  secrets: TestSecrets,
  ordinal: number,
  loaded?: Record<'peers' | 'clients', string>,
): MemberReport => {
  const end = (of: 'peers' | 'clients') => {
    const root = first(secrets.text(ends[of], 'ca.crt'));
    return { leaf: first(secrets.text(ends[of], 'tls.crt')), root, loaded: loaded ? loaded[of] : root };
  };
  return { pod: `orders-${ordinal}`, peers: end('peers'), clients: end('clients') };
};
const rootsOf = (secrets: TestSecrets, key = 'root.crt') => ({
  peers: first(secrets.text('peers', key)),
  clients: first(secrets.text('clients', key)),
});
const told = (secrets: TestSecrets) => secrets.decide().problems.map(({ reason, message }) => `${reason}: ${message}`);
const settled = async (secrets: TestSecrets) => (await secrets.settle()).map((line) => line.split(':')[0]);

/** Requests new roots. The members have not followed yet. */
async function begun(): Promise<{
  secrets: TestSecrets;
  old: MemberReport;
  roots: Record<'peers' | 'clients', string>;
}> {
  const secrets = await TestSecrets.filled();
  const old = reportOf(secrets, 0);
  secrets.members = known([old]);
  secrets.spec = new TestSecrets({ rootRotation: '2026-11' }).spec;
  const roots = rootsOf(secrets);
  expect(await settled(secrets)).toEqual([
    ...['nextRoot peers', 'nextRoot clients', 'leaf peer', 'leaf server', 'leaf client'],
  ]);
  return { secrets, old, roots };
}

/** Every member has the new certificates, and clients had their time. */
async function trusted(): Promise<{ secrets: TestSecrets; roots: Record<'peers' | 'clients', string> }> {
  const { secrets, roots } = await begun();
  secrets.now += lifetimes.clients;
  secrets.members = known([reportOf(secrets, 0, roots), reportOf(secrets, 1, roots)]);
  expect(await settled(secrets)).toEqual(['trust peer', 'trust server', 'trust client']);
  return { secrets, roots };
}

/** The chain of a leaf, and the roots that it leads to. */
function chainOf(secrets: TestSecrets, leaf: SecretName, ...roots: string[]): [number, boolean[]] {
  const chain = certificatesIn(secrets.text(leaf, 'tls.crt'))!;
  const isWhole = chain
    .slice(1)
    .every((issuer, i) => chain[i]!.checkIssued(issuer) && chain[i]!.verify(issuer.publicKey));
  expect(isWhole).toBe(true);
  const anchors = roots.map((pem) => certificatesIn(pem)![0]!);
  const leads = anchors.map((root) => chain.some((each) => each.checkIssued(root) && each.verify(root.publicKey)));
  return [chain.length, leads];
}

test('new leaves lead to both roots, and every ca.crt stays', async () => {
  const { secrets, old, roots } = await begun();
  for (const [authority, leaf] of Object.entries(ends) as ['peers' | 'clients', SecretName][]) {
    const both = [secrets.text(authority, 'root.crt'), secrets.text(authority, 'next-root.crt')];
    expect(chainOf(secrets, leaf, ...both)).toEqual([3, [true, true]]);
    expect(first(secrets.text(leaf, 'ca.crt'))).toBe(roots[authority]);
  }
  const next = rootsOf(secrets, 'next-root.crt');
  const step = (of: 'peers' | 'clients', secret: string) =>
    `RotatingRoot: the root ${roots[of]} in Secret ${secret} is being replaced by ${next[of]} (step 1 of 2, certificates)`;
  const waits = 'member orders-0 has not got its new certificate yet';
  expect(told(secrets)).toEqual([
    `${step('peers', 'orders-peer-ca')}: ${waits}`,
    `${step('clients', 'orders-client-ca')}: ${waits}`,
  ]);
  // One end after the other, and then the clients.
  secrets.members = known([{ ...old, peers: { ...old.peers, leaf: undefined } }]);
  expect(told(secrets)[0]).toContain('the agent of member orders-0 does not report its certificate');
  secrets.members = unknown('no leader');
  expect(told(secrets)[0]).toContain(': the members are unknown: no leader');
  secrets.members = known([reportOf(secrets, 0, roots)]);
  expect(told(secrets)[1]).toMatch(/: clients have until 2026-01-01T01:00:00Z to read theirs$/);
  expect(await settled(secrets)).toEqual(['trust peer']);
  // One restart is enough for both.
  secrets.members = known([reportOf(secrets, 0, roots)]);
  expect(told(secrets)[0]).toMatch(
    /: member orders-0 has not loaded the next root; the members restart when Secret orders-client-ca is at step 2 too$/,
  );
  expect(secrets.decide().rootsToLoad).toBeUndefined();
});

test('members that have the new leaves get the next root alone, and keep their leaves', async () => {
  const { secrets, roots } = await trusted();
  const next = rootsOf(secrets, 'next-root.crt');
  for (const leaf of ['peer', 'server', 'client'] as const) {
    const of = leaf === 'peer' ? 'peers' : 'clients';
    expect(first(secrets.text(leaf, 'ca.crt'))).toBe(next[of]);
    expect(chainOf(secrets, leaf, secrets.text(of, 'root.crt'), secrets.text(of, 'next-root.crt'))).toEqual([
      3,
      [true, true],
    ]);
  }
  const waits = (...members: MemberReport[]) => {
    secrets.members = known(members);
    return told(secrets)[0]!.replace(/^.*\(step 2 of 2, restarts\): /, '');
  };
  const [done, late] = [reportOf(secrets, 0), reportOf(secrets, 1, roots)];
  const restart = 'the members restart one by one';
  const both = `${next.peers}-${next.clients}`;
  expect(waits(done, late)).toBe(`member orders-1 has not loaded the next root; ${restart}`);
  expect(secrets.decide().rootsToLoad).toBe(both);
  expect(waits(done, { ...late, peers: { ...late.peers, loaded: undefined } })).toBe(
    `it is not known which root member orders-1 has loaded; ${restart}`,
  );
  expect(secrets.decide().rootsToLoad).toBe(both);
  // It names the same roots when one of them no longer needs a restart.
  expect(waits(done, { ...late, peers: done.peers })).toBe(`member orders-1 has not loaded the next root; ${restart}`);
  expect(secrets.decide().rootsToLoad).toBe(both);
  expect(waits(done, { ...late, peers: { ...late.peers, root: roots.peers } })).toBe(
    'member orders-1 has not got the ca.crt with the next root yet',
  );
  const neither = { ...late, peers: { ...late.peers, root: roots.peers } };
  expect(waits(late, neither)).toBe('member orders-1 has not got the ca.crt with the next root yet');
  expect(waits(done, { ...late, peers: {} })).toBe('the agent of member orders-1 does not report its ca.crt');
  expect(secrets.decide().rootsToLoad).toBeUndefined();
  expect(await settled(secrets)).toEqual([]);
});

test('no member restarts while the cluster is paused, or while the other authority cannot be read', async () => {
  const { secrets, roots } = await trusted();
  secrets.members = known([reportOf(secrets, 0, roots)]);
  expect(secrets.decide().rootsToLoad).toBeDefined();
  secrets.spec = { ...secrets.spec, isPaused: true };
  expect(told(secrets)[0]).toMatch(/; the members restart one by one, but not while spec.paused is true$/);
  secrets.spec = { ...secrets.spec, isPaused: false };
  secrets.all = { ...secrets.all, clients: unknown('no answer') };
  expect(secrets.decide().rootsToLoad).toBeUndefined();
});

test('once every member has loaded it, the next root is the root; the cross certificate goes with the next renewal', async () => {
  const { secrets } = await trusted();
  const next = rootsOf(secrets, 'next-root.crt');
  secrets.members = known([reportOf(secrets, 0), reportOf(secrets, 1)]);
  expect(await settled(secrets)).toEqual(['promotion peers', 'promotion clients']);
  expect(rootsOf(secrets)).toEqual(next);
  expect(secrets.decide().rootsToLoad).toBeUndefined();
  const { v } = secrets.all.peers as { v: { data: object } };
  expect(Object.keys(v.data).sort()).toEqual(['root-rotation', 'root.crt', 'root.key', 'tls.crt', 'tls.key']);
  expect(secrets.decide()).toMatchObject({ problems: [], certificates: Array(5).fill({}) });
  secrets.now += 61 * day;
  expect(await settled(secrets)).toEqual(['leaf peer', 'leaf server', 'leaf client']);
  expect(chainOf(secrets, 'peer', secrets.text('peers', 'root.crt'))).toEqual([2, [true]]);
  expect(secrets.decide().problems).toEqual([]);
});

test('a leaf that is renewed meanwhile keeps the roots that its members trust', async () => {
  for (const prepare of [begun, trusted]) {
    const { secrets } = await prepare();
    secrets.members = unknown('no answer');
    const before = secrets.text('peer', 'ca.crt');
    secrets.now += 61 * day;
    expect(await settled(secrets)).toEqual(['leaf peer', 'leaf server', 'leaf client']);
    expect(secrets.text('peer', 'ca.crt')).toBe(before);
    expect(chainOf(secrets, 'peer')).toEqual([3, []]);
    // The intermediate that is renewed is the one of the next root.
    secrets.now += 250 * day;
    const both = ['intermediate peers', 'intermediate clients'];
    expect(await settled(secrets)).toEqual([...both, 'leaf peer', 'leaf server', 'leaf client']);
    expect(secrets.text('peer', 'ca.crt')).toBe(before);
    expect(chainOf(secrets, 'peer', secrets.text('peers', 'root.crt'), secrets.text('peers', 'next-root.crt'))).toEqual(
      [3, [true, true]],
    );
  }
});

test('a cluster without members, and a new one, continue at once', async () => {
  const { secrets } = await begun();
  secrets.members = known([]);
  secrets.now += lifetimes.clients;
  const writes = ['promotion peers', 'trust peer', 'trust server', 'trust client', 'promotion clients'];
  expect((await settled(secrets)).sort()).toEqual(writes.sort());
  const made = new TestSecrets({ rootRotation: '2026-11' });
  expect(await settled(made)).not.toContain('nextRoot peers');
});

test('a root is replaced in time, and once', async () => {
  const secrets = await TestSecrets.filled();
  let replaced = 0;
  for (secrets.now = begin + 2400 * day; secrets.now < begin + 2520 * day; secrets.now += 20 * day) {
    secrets.members = known([reportOf(secrets, 0)]);
    const writes = await secrets.settle();
    replaced += writes.filter((line) => line.startsWith('nextRoot')).length;
    expect(secrets.reasons).not.toContain('RootExpiring');
  }
  expect(replaced).toBe(2);
});

test('the key of the present root is no longer needed', async () => {
  const { secrets } = await trusted();
  secrets.set('peers', { 'root.key': 'x' });
  expect(secrets.reasons).toEqual(['RotatingRoot', 'RotatingRoot']);
  secrets.members = known([reportOf(secrets, 0)]);
  expect(await settled(secrets)).toEqual(['promotion peers', 'promotion clients']);
  expect(secrets.reasons).toEqual([]);
});

test('a next root that is damaged is never created again, and nothing is signed meanwhile', async () => {
  const { secrets } = await trusted();
  for (const [key, text] of [
    ['next-root.crt', ''],
    ['next-root.key', 'x'],
    ['cross.crt', secrets.text('peers', 'next-tls.crt')],
  ] as const) {
    const before = secrets.text('peers', key);
    secrets.set('peers', { [key]: text });
    secrets.now += 61 * day;
    expect(secrets.reasons).toContain('AuthorityInvalid');
    expect((await secrets.settle()).filter((line) => /peer/.test(line.split(':')[0]!))).toEqual([]);
    secrets.set('peers', { [key]: before });
  }
  expect(secrets.reasons).not.toContain('AuthorityInvalid');
});

test('an authority that was replaced meanwhile has no next root', async () => {
  const { secrets } = await begun();
  for (const key of ['root.crt', 'root.key', 'tls.crt', 'tls.key']) secrets.set('peers', { [key]: undefined });
  secrets.empty('peer');
  expect(await settled(secrets)).toEqual(['authority peers', 'leaf peer']);
  expect(secrets.text('peers', 'next-root.crt')).toBe('');
  expect(secrets.reasons).toEqual(['RotatingRoot']);
});

test('a root that allows no other root below it is not followed by one', async () => {
  const root = await issueRoot('a', begin);
  const narrow = await issueIntermediate('b', root, begin);
  await expect(crossSign(root, narrow, begin)).rejects.toThrow('its root allows no other root below it');
});

test('two concurrent reconcilers write the same as one', async () => {
  const { secrets } = await trusted();
  secrets.members = known([reportOf(secrets, 0)]);
  const { write } = secrets.decide();
  expect(write).toMatchObject({ make: 'promotion', of: 'peers' });
  const [one, two] = await Promise.all(
    [1, 2].map(() => contentOf(write!, { secrets: secrets.all, wanted: secrets.spec, now: secrets.now })),
  );
  expect(one).toEqual(two);
});

test('the certificates of a chain each have lines of their own, however a person has restored them', async () => {
  const secrets = await TestSecrets.filled();
  secrets.spec = new TestSecrets({ rootRotation: 'r' }).spec;
  await secrets.settle();
  secrets.set('peers', { 'next-tls.crt': secrets.text('peers', 'next-tls.crt').trim() }).empty('peer');
  await secrets.settle();
  expect(secrets.text('peer', 'tls.crt').match(/^-----BEGIN CERTIFICATE-----$/gm)).toHaveLength(3);
});
