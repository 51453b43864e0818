import { certificatesIn, idOf, shortId } from '../../lib/certificates.ts';
import { listId, lists, readRevocationList } from '../../lib/revocation-lists.ts';
import { known, unknown } from '../../protocol/known.ts';
import { issueIntermediate, issueRevocationList, issueRoot } from './issue.ts';
import { lifetimes } from './lifetimes.ts';
import { factsOf } from './read.ts';
import type { MemberReport } from './rotation.ts';
import { begin, day, TestSecrets } from './secrets.fixture.ts';

const serials = (pem: string) => (certificatesIn(pem) ?? []).map(({ serialNumber }) => serialNumber);
const settled = async (secrets: TestSecrets) => (await secrets.settle()).map((line) => line.split(':')[0]);
const told = (secrets: TestSecrets) => secrets.decide().problems.map(({ reason, message }) => `${reason}: ${message}`);
const ask = (secrets: TestSecrets, change: ConstructorParameters<typeof TestSecrets>[0]) => {
  secrets.spec = new TestSecrets(change).spec;
};

/** What a member reports that has mounted the Secrets as they are now. */
function reportOf(secrets: TestSecrets, pod = 'orders-0'): MemberReport {
  const end = (leaf: 'peer' | 'server') => {
    const [certificate, root] = ['tls.crt', 'ca.crt'].map((key) =>
      shortId(idOf(certificatesIn(secrets.text(leaf, key))![0]!)),
    );
    const list = shortId(listId(secrets.bytes(leaf, 'ca.crl')!));
    return { leaf: certificate, root, loaded: root, list };
  };
  return { pod, peers: end('peer'), clients: end('server') };
}

/** Whether the lists of peers and of clients name this serial number. */
const listed = (secrets: TestSecrets, of: 'peer' | 'server' | 'backup', serial: string) =>
  lists(readRevocationList(secrets.bytes(of, 'ca.crl')!)!, serial);

test('every leaf of a member has an empty list from the start, and a client has none', async () => {
  const secrets = await TestSecrets.filled();
  for (const leaf of ['peer', 'server'] as const)
    expect(readRevocationList(secrets.bytes(leaf, 'ca.crl')!)?.serials).toEqual(new Set());
  expect(secrets.bytes('client', 'ca.crl')).toBeUndefined();
  expect(secrets.decide().problems).toEqual([]);
  // A new cluster has nothing to revoke.
  const made = new TestSecrets({ intermediateRevocation: 'now' });
  expect(await settled(made)).toEqual([
    ...['authority peers', 'authority clients', 'leaf peer', 'leaf server', 'leaf client'],
  ]);
});

test('the earlier intermediates are listed once every member, and every client, has a leaf of the new one', async () => {
  const secrets = await TestSecrets.filled();
  const [old] = serials(secrets.text('peers', 'tls.crt'));
  const before = reportOf(secrets);
  secrets.members = known([before]);
  ask(secrets, { intermediateRevocation: 'stolen' });
  expect(await settled(secrets)).toEqual([
    ...['intermediate peers', 'intermediate clients', 'leaf peer', 'leaf server', 'leaf client'],
  ]);
  expect(serials(secrets.text('peers', 'revoked.crt'))).toEqual([old]);
  expect(listed(secrets, 'peer', old!)).toBe(false);
  const peers = 'RevokingIntermediates: the earlier intermediates of Secret orders-peer-ca are being revoked';
  const clients = 'RevokingIntermediates: the earlier intermediates of Secret orders-client-ca are being revoked';
  const waits = 'member orders-0 has not got its new certificate yet';
  expect(told(secrets)).toEqual([`${peers}: ${waits}`, `${clients}: ${waits}`]);
  secrets.members = unknown('no leader');
  expect(told(secrets)[0]).toBe(`${peers}: the members are unknown: no leader`);
  expect(await settled(secrets)).toEqual([]);

  const [ready, late] = [reportOf(secrets), { ...before, pod: 'orders-1' }];
  secrets.members = known([ready, late]);
  expect(told(secrets)[0]).toBe(`${peers}: member orders-1 has not got its new certificate yet`);
  secrets.members = known([ready, { ...reportOf(secrets, 'orders-1'), peers: {} }]);
  expect(told(secrets)[0]).toBe(`${peers}: the agent of member orders-1 does not report its certificate`);
  secrets.members = known([ready]);
  expect(await settled(secrets)).toEqual(['list peer']);
  expect(listed(secrets, 'peer', old!)).toBe(true);
  expect(told(secrets)).toEqual([
    `${peers}: member orders-0 has not got the list yet`,
    `${clients}: clients have until 2026-01-01T00:03:00Z to read theirs`,
  ]);
  secrets.now += lifetimes.revocation;
  expect(await settled(secrets)).toEqual(['list server']);
  secrets.members = known([reportOf(secrets)]);
  expect(secrets.decide().problems).toEqual([]);
  expect(await settled(secrets)).toEqual([]);
});

/** After a revocation that is done. */
async function revoked(): Promise<TestSecrets> {
  const secrets = await TestSecrets.filled();
  secrets.members = known([]);
  ask(secrets, { intermediateRevocation: 'one' });
  await secrets.settle();
  secrets.now += lifetimes.revocation;
  expect(await settled(secrets)).toEqual(['list server']);
  return secrets;
}

test('backup pods get the list as well, with that of the servers', async () => {
  const secrets = new TestSecrets({}, []);
  await secrets.settle();
  const [old] = serials(secrets.text('clients', 'tls.crt'));
  secrets.members = known([]);
  secrets.spec = new TestSecrets({ intermediateRevocation: 'stolen' }, []).spec;
  await secrets.settle();
  secrets.now += lifetimes.revocation;
  expect(await settled(secrets)).toEqual(['list server', 'list backup']);
  expect(listed(secrets, 'backup', old!)).toBe(true);
  secrets.set('backup', { 'ca.crl': undefined });
  expect(await settled(secrets)).toEqual(['list backup']);
});

test('a member that does not answer may lack the list, unless every member was seen to have it', async () => {
  const secrets = await revoked();
  const report = reportOf(secrets);
  const peers = 'RevokingIntermediates: the earlier intermediates of Secret orders-peer-ca are being revoked';
  secrets.members = known([report, { ...report, pod: 'orders-1', peers: {} }]);
  expect(told(secrets)).toEqual([`${peers}: the agent of member orders-1 does not report its list`]);
  // It reads the newest list when it starts.
  secrets.members = known([report, { ...report, pod: 'orders-1', isDown: true, peers: {} }]);
  expect(told(secrets)).toEqual([]);
  secrets.members = unknown('no leader');
  expect(told(secrets)[0]).toBe(`${peers}: it is not known which members have the list: no leader`);
  expect(secrets.decide().provenLists).toEqual([]);

  secrets.members = known([report]);
  const provenLists = new Set(secrets.decide().provenLists);
  expect(provenLists.size).toBe(2);
  for (const silent of [unknown('no leader'), known([{ ...report, peers: {}, clients: {} }])]) {
    secrets.members = silent;
    expect(secrets.decide({ provenLists }).problems).toEqual([]);
  }
  secrets.members = known([report, { ...report, pod: 'orders-1', clients: { ...report.clients, list: 'none' } }]);
  expect(secrets.decide({ provenLists }).problems).toEqual([
    {
      reason: 'RevokingIntermediates',
      message:
        'the earlier intermediates of Secret orders-client-ca are being revoked: member orders-1 was started without a revocation list; restart it',
    },
  ]);
});

test('a silent member and a Secret that is gone keep nobody in for longer than ten minutes', async () => {
  const secrets = await TestSecrets.filled();
  const [old] = serials(secrets.text('clients', 'tls.crt'));
  const before = reportOf(secrets);
  secrets.members = known([before]);
  secrets.put('client', known(undefined));
  ask(secrets, { intermediateRevocation: 'stolen' });
  await secrets.settle();
  const [one, two] = [reportOf(secrets), reportOf(secrets, 'orders-1')];
  const silent = { pod: 'orders-2', peers: {}, clients: {} };
  secrets.members = known([one, two, silent]);
  secrets.now += lifetimes.silence - 1_000;
  expect(await settled(secrets)).toEqual([]);
  // Without most members there is no quorum that could serve.
  secrets.now += 1_000;
  secrets.members = known([one, silent, { ...before, pod: 'orders-1' }]);
  expect(await settled(secrets)).toEqual([]);
  secrets.members = known([one, two, silent]);
  expect(await secrets.settle()).toEqual([
    'list peer: the members have certificates of the new intermediate; left behind without a new certificate: member orders-2',
    'list server: the members have certificates of the new intermediate; left behind without a new certificate: Secret orders-client-tls, member orders-2',
  ]);
  expect(listed(secrets, 'server', old!)).toBe(true);
  expect(secrets.reasons).toContain('RevokingIntermediates');
});

test('a later revocation takes those of rotations since', async () => {
  const secrets = await revoked();
  const [second] = serials(secrets.text('peers', 'tls.crt'));
  ask(secrets, { intermediateRevocation: 'one', intermediateRotation: 'b' });
  await secrets.settle();
  const [third] = serials(secrets.text('peers', 'tls.crt'));
  expect(serials(secrets.text('peers', 'previous.crt'))).toContain(second);
  expect(listed(secrets, 'peer', second!)).toBe(false);
  ask(secrets, { intermediateRevocation: 'two', intermediateRotation: 'b' });
  await secrets.settle();
  expect([second, third].map((each) => listed(secrets, 'peer', each!))).toEqual([true, true]);
  expect(secrets.text('peers', 'previous.crt')).toBe('');
  expect(serials(secrets.text('peers', 'revoked.crt'))).toHaveLength(3);
});

test('while a root is replaced, the intermediates of both roots are revoked', async () => {
  const secrets = await TestSecrets.filled();
  const [present] = serials(secrets.text('peers', 'tls.crt'));
  ask(secrets, { rootRotation: 'r' });
  await secrets.settle();
  const [next] = serials(secrets.text('peers', 'next-tls.crt'));
  ask(secrets, { rootRotation: 'r', intermediateRevocation: 'stolen' });
  secrets.members = known([]);
  await secrets.settle();
  expect([present, next].map((each) => listed(secrets, 'peer', each!))).toEqual([true, true]);
  const [now] = serials(secrets.text('peers', 'tls.crt'));
  expect(listed(secrets, 'peer', now!)).toBe(false);
});

test('a list that is lost or damaged shuts everybody out, and is written at once, with what was revoked', async () => {
  const secrets = await revoked();
  const [old] = serials(secrets.text('peers', 'revoked.crt'));
  secrets.members = unknown('no answer');
  const whole = secrets.bytes('peer', 'ca.crl')!;
  for (const damaged of [undefined, '', whole.toString('latin1').slice(0, 40), `${whole.toString('base64')}\n`]) {
    secrets.set('peer', { 'ca.crl': damaged });
    expect(await settled(secrets)).toEqual(['list peer']);
    expect(listed(secrets, 'peer', old!)).toBe(true);
  }
  secrets.empty('peer');
  expect(await settled(secrets)).toEqual(['leaf peer']);
  expect(listed(secrets, 'peer', old!)).toBe(true);
});

test.each(['previous.crt', 'revoked.crt'])('an authority whose %s is damaged is not written', async (key) => {
  const secrets = await revoked();
  secrets.set('peers', { [key]: '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n' });
  secrets.now += 300 * day;
  expect(told(secrets)[0]).toMatch(new RegExp(`^AuthorityInvalid: Secret orders-peer-ca: its ${key} holds something`));
  expect((await settled(secrets)).filter((line) => /peer/.test(line!))).toEqual([]);
});

test('a list of any length is one', async () => {
  const root = await issueRoot('root', begin);
  // The lines of its PEM are full now and then.
  for (let count = 0; count < 50; count++) {
    // Every second one has its top bit set.
    const serials = Array.from(
      { length: count },
      (_, i) => `${i % 2 ? '40' : 'C0'}${i.toString(16).padStart(30, '0')}`,
    );
    const list = await issueRevocationList(serials, root, begin);
    expect(readRevocationList(list)?.serials).toEqual(new Set(serials.map((each) => each.toUpperCase())));
  }
});

test('a list is one DER element, and names nothing that it does not hold', async () => {
  const root = await issueRoot('root', begin);
  const made = await Promise.all(['a', 'b'].map((name) => issueIntermediate(name, root, begin)));
  const [a, b] = made.map(({ cert }) => serials(cert)[0]!);
  const list = await issueRevocationList([a!], root, begin);
  expect([a!, b!].map((each) => lists(readRevocationList(list)!, each))).toEqual([true, false]);
  const wrong = [Buffer.of(), list.subarray(0, -1), Buffer.concat([list, Buffer.of(0)]), Buffer.from(root.cert)];
  expect(wrong.map(readRevocationList)).toEqual([undefined, undefined, undefined, undefined]);
});

test('an authority that comes back from a backup is renewed, and what was revoked and issued since is shut out', async () => {
  const secrets = await TestSecrets.filled();
  secrets.members = known([]);
  const backup = structuredClone(secrets.all.clients);
  const own = () => serials(secrets.text('clients', 'tls.crt'))[0]!;
  const settle = async () => {
    await secrets.settle();
    secrets.now += lifetimes.revocation;
    await secrets.settle();
  };
  const first = own();
  secrets.now += 250 * day;
  await settle();
  const stolen = own();
  ask(secrets, { intermediateRevocation: 'stolen' });
  await settle();
  const third = own();
  expect([first, stolen, third].map((each) => listed(secrets, 'server', each))).toEqual([true, true, false]);

  // In Git, the revocation stays as it is; the authority forgets it.
  secrets.put('clients', backup);
  await settle();
  const fourth = own();
  expect([first, stolen, third, fourth].map((each) => listed(secrets, 'server', each))).toEqual([
    ...[true, true, true, false],
  ]);
  // Nothing depends on the list that is there.
  secrets.empty('server');
  ask(secrets, { intermediateRevocation: 'second' });
  await settle();
  expect([first, stolen, third, fourth].map((each) => listed(secrets, 'server', each))).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(secrets.decide().problems).toEqual([]);
});

test('an authority that comes back without a revocation signs with none of the intermediates that are revoked', async () => {
  const secrets = await TestSecrets.filled();
  const backup = structuredClone(secrets.all.peers);
  secrets.members = known([]);
  ask(secrets, { intermediateRevocation: 'one' });
  await secrets.settle();
  const present = serials(secrets.text('peers', 'tls.crt'))[0]!;
  const [first] = serials(secrets.text('peers', 'revoked.crt'));
  secrets.put('peers', backup);
  ask(secrets, {});
  expect((await secrets.settle())[0]).toBe(
    'intermediate peers: it came back from a backup, and does not know every intermediate of its certificates',
  );
  expect(serials(secrets.text('peers', 'tls.crt'))).not.toContain(first);
  expect(serials(secrets.text('peers', 'previous.crt'))).toContain(present);
  expect(secrets.text('peers', 'revoked-serials')).toBe(`${first}\n`);
  secrets.empty('peer');
  await secrets.settle();
  expect(listed(secrets, 'peer', first!)).toBe(true);
});

test('a clock that is far ahead takes nothing back', async () => {
  const secrets = await revoked();
  const [old] = serials(secrets.text('peers', 'revoked.crt'));
  ask(secrets, { intermediateRevocation: 'one', intermediateRotation: 'b' });
  await secrets.settle();
  const [previous] = serials(secrets.text('peers', 'previous.crt'));
  secrets.now += 5 * 365 * day;
  await secrets.settle();
  secrets.empty('peer');
  await secrets.settle();
  expect(listed(secrets, 'peer', old!)).toBe(true);
  ask(secrets, { intermediateRevocation: 'two', intermediateRotation: 'b' });
  await secrets.settle();
  expect(listed(secrets, 'peer', previous!)).toBe(true);
});

test('a revocation says what it cannot shut out when the Secret was created with its content', async () => {
  const secrets = await TestSecrets.filled();
  const { peers } = secrets.all;
  const metadata = { ...(peers.known && peers.v!.metadata), creationTimestamp: new Date(begin + day).toISOString() };
  secrets.put('peers', known({ ...(peers.known && peers.v!), metadata } as never));
  secrets.now += 2 * day;
  ask(secrets, { intermediateRevocation: 'stolen' });
  expect(secrets.decide().write?.why).toMatch(/came back from a backup.*replace the root too/);
});

describe('an authority that came back from a backup and cannot be written', () => {
  async function restored(): Promise<TestSecrets> {
    const secrets = await TestSecrets.filled();
    const backup = structuredClone(secrets.all.peers);
    secrets.members = known([]);
    ask(secrets, { intermediateRevocation: 'one' });
    await secrets.settle();
    secrets.now += lifetimes.revocation;
    await secrets.settle();
    return secrets.put('peers', backup);
  }
  const failed = new Set(['orders-peer-ca']);

  test('signs no leaf with an intermediate that members refuse', async () => {
    const secrets = await restored();
    expect(secrets.decide({ failed }).write).toBeUndefined();
    secrets.empty('peer');
    // Without a leaf of its own, nothing says that it has forgotten anything, but for the status.
    expect(secrets.decide({ failed }).write).toMatchObject({ make: 'leaf', of: 'peer' });
  });

  test('names what each leaf waits for, and the list is still written', async () => {
    const secrets = await restored();
    secrets.set('peer', { 'tls.key': 'x' });
    const problem = {
      reason: 'Issuing',
      message:
        'Secret orders-peer-tls needs a certificate: tls.key is missing or does not fit; its authority signs none before it has a new intermediate: it came back from a backup, and does not know every intermediate of its certificates',
    };
    expect(secrets.decide({ failed }).write).toBeUndefined();
    expect(secrets.decide({ failed }).problems).toContainEqual(problem);
    secrets.set('peers', { 'root.key': undefined });
    expect(secrets.decide().write).toBeUndefined();
    expect(told(secrets)).toEqual([
      expect.stringContaining('AuthorityInvalid: Secret orders-peer-ca: root.key is missing'),
      `Issuing: ${problem.message}`,
    ]);
    secrets.set('peer', { 'ca.crl': undefined });
    expect(await settled(secrets)).toEqual(['list peer']);
  });

  test('whose intermediate it has itself revoked signs none', async () => {
    const secrets = await restored();
    const { peers } = secrets.all;
    const [key, cert] = ['tls.key', 'tls.crt'].map((name) => secrets.text('peers', name));
    await secrets.settle();
    expect(peers).not.toBe(secrets.all.peers);
    secrets.set('peers', { 'tls.key': key!, 'tls.crt': cert!, 'root.key': undefined });
    secrets.now += 61 * day;
    expect(secrets.decide().write).not.toMatchObject({ of: 'peer' });
    secrets.set('peer', { 'tls.crt': undefined });
    expect(told(secrets).join()).toContain(
      'Secret orders-peer-tls needs a certificate: tls.crt is missing or cannot be parsed; its authority signs none before it has a new intermediate: tls.crt is revoked',
    );
    secrets.set('peer', { 'ca.crl': undefined });
    expect((await settled(secrets)).filter((line) => /peer/.test(line!))).toEqual(['list peer']);
    expect(listed(secrets, 'peer', serials(cert!)[0]!)).toBe(true);
  });
});

describe('a list that none of the intermediates has signed', () => {
  /** Of a foreign authority, with the serial number of ours as another entry. */
  const foreign = async (secrets: TestSecrets, count: number) => {
    const entries = Array.from({ length: count }, (_, i) => `70${i.toString(16).padStart(8, '0')}`);
    const own = serials(secrets.text('peers', 'tls.crt'));
    return issueRevocationList([...entries, ...own], await issueRoot('theirs', begin), begin);
  };
  const put = (secrets: TestSecrets, leaf: 'peer' | 'server', list: Buffer) => {
    const { [leaf]: found } = secrets.all;
    const { data, ...rest } = found.known ? found.v! : undefined!;
    secrets.put(leaf, known({ ...rest, data: { ...data, 'ca.crl': list.toString('base64') } }));
  };

  test('counts for nothing, and is replaced with a new certificate beside it', async () => {
    const secrets = await revoked();
    const before = secrets.bytes('peer', 'ca.crl')!;
    const root = secrets.text('peers', 'tls.crt');
    put(secrets, 'peer', await foreign(secrets, 500));
    expect(await secrets.settle()).toEqual([
      'leaf peer: another intermediate than its own signed ca.crl',
      'list peer: the members have certificates of the new intermediate',
    ]);
    expect(readRevocationList(secrets.bytes('peer', 'ca.crl')!)!.serials).toEqual(readRevocationList(before)!.serials);
    expect(secrets.text('peers', 'tls.crt')).toBe(root);
    expect(secrets.text('peers', 'revoked-serials')).toBe('');
  });

  test('is signed again, with the same serial numbers, when another intermediate issues the leaf', async () => {
    const secrets = await revoked();
    const [first] = serials(secrets.text('peers', 'revoked.crt'));
    const backup = structuredClone(secrets.all.peers);
    for (const intermediateRotation of ['a', 'b', 'c']) {
      ask(secrets, { intermediateRevocation: 'one', intermediateRotation });
      await secrets.settle();
      const list = readRevocationList(secrets.bytes('peer', 'ca.crl')!)!;
      expect(list.serials).toEqual(new Set([first]));
    }
    // So an authority that knows none of the last ones still knows the list.
    ask(secrets, { intermediateRevocation: 'two', intermediateRotation: 'c' });
    await secrets.settle();
    const all = readRevocationList(secrets.bytes('peer', 'ca.crl')!)!.serials;
    expect(all.size).toBe(5);
    secrets.put('peers', backup);
    await secrets.settle();
    secrets.empty('peer');
    await secrets.settle();
    expect([...all].filter((serial) => !listed(secrets, 'peer', serial))).toEqual([]);
  });

  test('a list that cannot be written for its length is refused in words', async () => {
    const secrets = await revoked();
    const many = Array.from({ length: 2_001 }, (_, i) => `40${i.toString(16).padStart(8, '0')}\n`).join('');
    secrets.set('peers', { 'revoked-serials': many }).set('peer', { 'ca.crl': undefined });
    await expect(secrets.step()).rejects.toThrow(
      'its authority has revoked 2002 intermediates, and a list can name 2000: replace the authority',
    );
    secrets.set('peers', { 'revoked-serials': many.slice(0, 1_998 * 11) });
    await secrets.settle();
    expect(readRevocationList(secrets.bytes('peer', 'ca.crl')!)!.serials.size).toBe(1_999);
  });
});

test('when all Secrets come back from a backup, the status knows what was revoked since', async () => {
  const secrets = await TestSecrets.filled();
  const backup = structuredClone(secrets.all);
  secrets.members = known([]);
  ask(secrets, { intermediateRevocation: 'one' });
  await secrets.settle();
  secrets.now += lifetimes.revocation;
  await secrets.settle();
  const stolen = serials(secrets.text('peers', 'tls.crt'))[0]!;
  ask(secrets, { intermediateRevocation: 'two' });
  await secrets.settle();
  secrets.now += lifetimes.revocation;
  await secrets.settle();
  const [peers, clients] = secrets.decide().certificates;
  expect(peers?.revoked).toHaveLength(2);
  secrets.had = { peers: peers as never, clients: clients as never };

  secrets.all = backup;
  secrets.spec = new TestSecrets().spec;
  // It is not forgotten while nothing can be written.
  const failed = new Set(['orders-peer-ca']);
  expect(secrets.decide({ failed }).certificates[0]?.revoked?.toSorted()).toEqual(peers?.revoked?.toSorted());
  await secrets.settle();
  secrets.now += lifetimes.revocation;
  await secrets.settle();
  expect([stolen, serials(secrets.text('peers', 'tls.crt'))[0]!].map((each) => listed(secrets, 'peer', each))).toEqual([
    true,
    false,
  ]);
  expect(secrets.decide().problems).toEqual([]);
});

describe('what the status knows of an authority', () => {
  const knows = (secrets: TestSecrets, ...revoked: string[]) => {
    const root = shortId(idOf(certificatesIn(secrets.text('peers', 'root.crt'))![0]!));
    secrets.had = { ...secrets.had, peers: { root, revoked } };
  };

  test('counts for a root that comes back from a backup as well, after another has followed it', async () => {
    const secrets = await TestSecrets.filled();
    const backup = structuredClone(secrets.all);
    const stolen = serials(secrets.text('peers', 'tls.crt'))[0]!;
    secrets.members = known([]);
    ask(secrets, { intermediateRevocation: 'stolen' });
    await secrets.settle();
    ask(secrets, { intermediateRevocation: 'stolen', rootRotation: 'r' });
    await secrets.settle();
    secrets.now += 2 * day;
    await secrets.settle();
    const [peers, clients] = secrets.decide().certificates;
    secrets.had = { peers: peers as never, clients: clients as never };
    secrets.all = backup;
    expect(peers?.root).not.toBe(shortId(idOf(certificatesIn(secrets.text('peers', 'root.crt'))![0]!)));
    expect(secrets.decide().certificates[0]?.revoked).toContain(stolen);
    await secrets.settle();
    expect(serials(secrets.text('peers', 'tls.crt'))).not.toContain(stolen);
    expect(listed(secrets, 'peer', stolen)).toBe(true);
  });

  test('is read in any spelling, and what is not a serial number is left out', async () => {
    const secrets = await TestSecrets.filled();
    secrets.members = known([]);
    knows(secrets, '0ab1', 'XYZ', '', '-5', 'a'.repeat(65));
    secrets.set('peers', { 'revoked-serials': '00cd2\r\nnone\n' });
    await secrets.settle();
    expect(readRevocationList(secrets.bytes('peer', 'ca.crl')!)?.serials).toEqual(new Set(['AB1', 'CD2']));
    expect(secrets.decide().certificates[0]?.revoked).toEqual(['CD2', 'AB1']);
  });

  test('is not joined with a line that does not end', async () => {
    const secrets = await TestSecrets.filled();
    secrets.set('peers', { 'revoked-serials': '40AA' });
    knows(secrets, '40BB');
    await secrets.settle();
    expect(secrets.text('peers', 'revoked-serials')).toBe('40AA\n40BB\n');
  });

  test('is not taken over if no list can name it, and says so; the status stays one that can be written', async () => {
    const secrets = await TestSecrets.filled();
    secrets.members = known([]);
    const many = Array.from({ length: 1_999 }, (_, i) => `40${i.toString(16).padStart(8, '0')}`.toUpperCase());
    secrets.set('peers', { 'revoked-serials': many.join('\n') });
    knows(secrets, '50AA', '50BB');
    await secrets.settle();
    expect(readRevocationList(secrets.bytes('peer', 'ca.crl')!)?.serials).toEqual(new Set([...many, '50AA']));
    const [peers] = secrets.decide().certificates;
    expect(peers?.revoked).toEqual([...many, '50AA']);
    // The problem does not go away by itself.
    for (const revoked of [peers!.revoked!, ['50BB'], []]) {
      knows(secrets, ...revoked);
      expect(told(secrets)).toEqual([
        'AuthorityInvalid: Secret orders-peer-ca has revoked 2000 intermediates, and a list names no more, so no other can be shut out; replace the authority',
      ]);
    }
  });
});

test('a backup pod without any list believes members that have not got their new certificate yet', async () => {
  const secrets = new TestSecrets({}, []);
  await secrets.settle();
  const [old] = serials(secrets.text('clients', 'tls.crt'));
  secrets.members = unknown('no answer');
  secrets.spec = new TestSecrets({ intermediateRevocation: 'stolen' }, []).spec;
  secrets.set('backup', { 'ca.crl': undefined });
  await secrets.settle();
  expect(listed(secrets, 'backup', old!)).toBe(false);
  secrets.set('backup', { 'ca.crl': undefined });
  expect(await settled(secrets)).toEqual(['list backup']);
  expect(listed(secrets, 'backup', old!)).toBe(false);
  secrets.members = known([]);
  secrets.now += lifetimes.revocation;
  expect(await settled(secrets)).toEqual(['list peer', 'list server', 'list backup']);
  expect(listed(secrets, 'backup', old!)).toBe(true);
});

test('an odd certificate in the chain of a leaf stops nothing', async () => {
  const secrets = await TestSecrets.filled();
  const [leaf, intermediate] = certificatesIn(secrets.text('peer', 'tls.crt'))!;
  const der = Buffer.from(intermediate!.raw);
  // Not a point of the curve.
  const point = der.indexOf(Buffer.of(0x03, 0x42, 0x00, 0x04)) + 4;
  der.fill(0xff, point, point + 64);
  const odd = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
  expect(() => certificatesIn(odd)![0]!.publicKey).toThrow();
  secrets.set('peer', { 'tls.crt': `${leaf}${odd}` });
  expect(await settled(secrets)).toEqual(['leaf peer']);
  expect(secrets.decide().problems).toEqual([]);
});

test('only an intermediate of the authority signs the list of a leaf', async () => {
  const secrets = await TestSecrets.filled();
  const theirs = await issueIntermediate('theirs', await issueRoot('theirs', begin), begin);
  const [leaf] = certificatesIn(secrets.text('peer', 'tls.crt'))!;
  const list = await issueRevocationList([], theirs, begin);
  const facts = (chain: string) => {
    const { peer } = secrets.set('peer', { 'tls.crt': chain }).all;
    const { data, ...rest } = peer.known ? peer.v! : undefined!;
    secrets.put('peer', known({ ...rest, data: { ...data, 'ca.crl': list.toString('base64') } }));
    return factsOf(secrets.all).peer;
  };
  expect(facts(`${leaf}${theirs.cert}`)).toMatchObject({ isListOfOther: true });
});
