import { X509Certificate } from 'node:crypto';
import { known, unknown } from '../../protocol/known.ts';
import { contentOf } from './content.ts';
import { lifetimes } from './lifetimes.ts';
import { begin, day, TestSecrets, tls } from './secrets.fixture.ts';
import { userLeaf, wantedOf } from './wanted.ts';

const api = { secret: 'orders-user-api', user: 'api', isAccepted: true };
const web = { secret: 'orders-user-web', user: 'web', isAccepted: true };
const [apiLeaf, webLeaf] = [userLeaf(api.secret), userLeaf(web.secret)];

const written = async (secrets: TestSecrets) => (await secrets.settle()).map((line) => line.split(':')[0]);

async function filled(): Promise<TestSecrets> {
  const secrets = new TestSecrets({}, [api, web]);
  await secrets.settle();
  return secrets;
}

test('root, backups and each user get a certificate of the clients, users last', async () => {
  const secrets = new TestSecrets({}, [api]);
  expect(await written(secrets)).toEqual([
    'authority peers',
    'authority clients',
    ...['peer', 'server', 'client', 'root', 'backup'].map((leaf) => `leaf ${leaf}`),
    `leaf ${apiLeaf}`,
  ]);
  const subjectOf = (leaf: Parameters<TestSecrets['text']>[0]) =>
    new X509Certificate(secrets.text(leaf, 'tls.crt')).subject;
  expect((['root', 'backup', apiLeaf] as const).map(subjectOf)).toEqual(['CN=root', 'CN=orders-backup', 'CN=api']);
  expect(secrets.text(apiLeaf, 'ca.crt')).toBe(secrets.text('clients', 'root.crt'));
  const { users, certificates, problems } = secrets.decide();
  expect(users.get(api.secret)).toEqual({ certificate: expect.objectContaining({ secret: api.secret }) });
  expect(certificates.map(({ secret }) => secret)).not.toContain(api.secret);
  expect(problems).toEqual([]);
});

test('a user gets its first certificate once etcd has the user; one that it has is renewed anyway', async () => {
  const secrets = await filled();
  const isUnknown = [api, web].map((user) => ({ ...user, isAccepted: false }));
  secrets.spec = new TestSecrets({}, isUnknown).spec;
  secrets.now = begin + 61 * day;
  secrets.empty(webLeaf);
  expect(await written(secrets)).toContain(`leaf ${apiLeaf}`);
  expect(secrets.decide().users.get(web.secret)?.problem?.message).toMatch(/when etcd has the user/);
  // Of another name: a certificate of somebody else.
  secrets.spec = new TestSecrets({}, [{ ...api, user: 'admin', isAccepted: false }]).spec;
  expect(await written(secrets)).toEqual([]);
});

test('renewed with the others: by age, with a new intermediate, and when it is damaged', async () => {
  const secrets = await filled();
  secrets.now = begin + 61 * day;
  expect(await written(secrets)).toEqual(
    expect.arrayContaining(['leaf root', 'leaf backup', `leaf ${apiLeaf}`, `leaf ${webLeaf}`]),
  );
  secrets.spec = new TestSecrets({ intermediateRotation: 'once' }, [api, web]).spec;
  expect(await written(secrets)).toEqual(expect.arrayContaining([`leaf ${apiLeaf}`, `leaf ${webLeaf}`]));
  secrets.set(apiLeaf, { 'tls.key': undefined });
  expect(await written(secrets)).toEqual([`leaf ${apiLeaf}`]);
});

describe.each([
  ['cannot be read', (secrets: TestSecrets) => secrets.put(webLeaf, unknown('forbidden')), /cannot be read: forbidden/],
  ['is missing', (secrets: TestSecrets) => secrets.put(webLeaf, { known: true, v: undefined }), /does not exist/],
])("a user's Secret that %s", (_, change, message) => {
  test('is the problem of that user alone', async () => {
    const secrets = change(new TestSecrets({}, [api, web]));
    expect(await written(secrets)).toContain(`leaf ${apiLeaf}`);
    const { problems, unread, users } = secrets.decide();
    expect([...problems, ...unread]).toEqual([]);
    expect(users.get(api.secret)?.problem).toBeUndefined();
    expect(users.get(web.secret)?.problem?.message).toMatch(message);
  });

  test('does not hold up a new root', async () => {
    const secrets = change(await filled());
    secrets.spec = new TestSecrets({ rootRotation: 'once' }, [api, web]).spec;
    await secrets.settle();
    secrets.members = { known: true, v: [] };
    secrets.now += 2 * 3_600_000;
    expect(await written(secrets)).toEqual(expect.arrayContaining(['trust client', `trust ${apiLeaf}`]));
    expect(secrets.decide().problems).toEqual([]);
  });
});

describe.each([
  ['a revocation', { intermediateRevocation: 'stolen' }, lifetimes.revocation, ['list server']],
  ['a new root', { rootRotation: 'once' }, lifetimes.clients, ['trust server', 'trust client', 'promotion clients']],
] as const)("%s and a user's Secret that cannot be written", (_, change, time, steps) => {
  const failed = new Set([web.secret]);
  /** Follows each decision, except those about this Secret. */
  const settle = async (secrets: TestSecrets) => {
    const made: string[] = [];
    for (let { write } = secrets.decide({ failed }); write; { write } = secrets.decide({ failed })) {
      made.push(
        `${write.make} ${write.of}${write.why.includes('user web (Secret orders-user-web)') ? ' without web' : ''}`,
      );
      secrets.put(
        write.of,
        known(await contentOf(write, { secrets: secrets.all, wanted: secrets.spec, now: secrets.now })),
      );
    }
    return made;
  };
  const messages = (secrets: TestSecrets) =>
    secrets
      .decide({ failed })
      .problems.map(({ message }) => message)
      .join();
  const begun = async () => {
    const secrets = await filled();
    secrets.spec = new TestSecrets(change, [api, web]).spec;
    secrets.members = { known: true, v: [] };
    expect(await settle(secrets)).toEqual(expect.arrayContaining(['leaf client', `leaf ${apiLeaf}`]));
    return secrets;
  };

  test('it waits as long as for all clients, then goes on, and says who is left behind', async () => {
    const secrets = await begun();
    secrets.now += time - 1;
    expect(await settle(secrets)).toEqual([]);
    expect(messages(secrets)).toContain('Secret orders-user-web has no certificate of the ');
    secrets.now += 1;
    expect(secrets.decide({ failed }).problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('left behind without a new certificate: user web (Secret orders-user-web)'),
    ]);
    const made = await settle(secrets);
    expect(made.map((line) => line.replace(' without web', ''))).toEqual(expect.arrayContaining([...steps]));
    expect(made).toContain(`${steps.at(-1)} without web`);
    expect(messages(secrets)).toBe('');
  });

  test('once it can be written, it is written before the others go on', async () => {
    const secrets = await begun();
    secrets.now += time;
    const made = await written(secrets);
    expect(made.indexOf(`leaf ${webLeaf}`)).toBeGreaterThanOrEqual(0);
    expect(made.indexOf(`leaf ${webLeaf}`)).toBeLessThan(made.indexOf(`${steps.at(-1)}`));
  });

  test('a restart in between does not make it late', async () => {
    const secrets = await begun();
    secrets.now += time;
    secrets.spec = { ...secrets.spec, usersSince: secrets.now };
    expect(await written(secrets)).toEqual([`leaf ${webLeaf}`]);
    secrets.now += time - 1;
    expect(await written(secrets)).toEqual([]);
    secrets.now += 1;
    expect(await written(secrets)).toEqual(expect.arrayContaining([...steps]));
  });

  test('new users do not delay it without end', async () => {
    const secrets = await begun();
    const users = [api];
    const join = async () => {
      users.push({ ...api, secret: `new-${users.length}`, user: `new-${users.length}` });
      const more = new TestSecrets(change, users);
      secrets.spec = more.spec;
      secrets.all = { ...more.all, ...secrets.all };
      return written(secrets);
    };
    const made: unknown[] = [];
    for (let passed = 0; passed < 2 * time; passed += time / 4) {
      secrets.now += time / 4;
      made.push(...(await join()));
    }
    expect(made).toEqual(expect.arrayContaining([...steps]));
  });
});

describe('while the users are not known', () => {
  const waits = 'the EtcdUsers of the cluster are not known yet';

  test('nobody is shut out by a revocation, and members go on among themselves', async () => {
    const secrets = await filled();
    const at = secrets.spec;
    secrets.spec = { ...new TestSecrets({ intermediateRevocation: 'stolen' }, []).spec, usersSince: undefined };
    secrets.members = { known: true, v: [] };
    await secrets.settle();
    secrets.now += lifetimes.revocation;
    expect(await written(secrets)).toEqual([]);
    expect(secrets.decide().problems.map(({ message }) => message)).toEqual([expect.stringContaining(waits)]);
    secrets.spec = { ...at, revocation: 'stolen', usersSince: secrets.now };
    expect(await written(secrets)).toEqual([`leaf ${apiLeaf}`, `leaf ${webLeaf}`]);
    // They have as much time as all others.
    secrets.now += lifetimes.revocation - 1;
    expect(await written(secrets)).toEqual([]);
    secrets.now += 1;
    expect(await written(secrets)).toEqual(['list server', 'list backup']);
  });

  test('no step of a new root is made', async () => {
    const secrets = await filled();
    const at = secrets.spec;
    const isUnknown = { ...new TestSecrets({ rootRotation: 'once' }, []).spec, usersSince: undefined };
    secrets.spec = isUnknown;
    secrets.members = { known: true, v: [] };
    await secrets.settle();
    secrets.now += lifetimes.clients;
    expect(await written(secrets)).toEqual([]);
    expect(secrets.decide().problems.map(({ message }) => message)).toEqual([expect.stringContaining(waits)]);
    expect(secrets.decide().rootsToLoad).toBeUndefined();
    const isKnown = { ...at, rootRotation: 'once', usersSince: secrets.now };
    secrets.spec = isKnown;
    expect(await written(secrets)).toEqual([`leaf ${apiLeaf}`, `leaf ${webLeaf}`]);
    secrets.now += lifetimes.clients - 1;
    expect(await written(secrets)).toEqual([]);
    // All but the promotion.
    secrets.now += 1;
    while (secrets.decide().write!.make === 'trust') await secrets.step();
    expect(secrets.decide().write!.make).toBe('promotion');
    secrets.spec = isUnknown;
    expect(await written(secrets)).toEqual([]);
  });

  test('they are not known before they were followed', () => {
    expect(wantedOf('orders', 'shop', { tls: tls() }, undefined)!.usersSince).toBeUndefined();
    expect(wantedOf('orders', 'shop', { tls: tls() }, { wishes: [], since: 1 })!.usersSince).toBe(1);
  });
});

test('an authority that was lost: a certificate of a user keeps no new one away, and is not overwritten', async () => {
  const secrets = await filled();
  for (const name of ['clients', 'server', 'client', 'root', 'backup'] as const) secrets.empty(name);
  expect(await written(secrets)).toContain('authority clients');
  const { problem } = secrets.decide().users.get(api.secret)!;
  expect(problem).toMatchObject({
    reason: 'ForeignCertificate',
    message: expect.stringMatching(/empty orders-user-api$/),
  });
});

test('paused: no first certificate, which that user says, not the cluster', async () => {
  const secrets = new TestSecrets({}, []);
  await secrets.settle();
  const withUser = new TestSecrets({}, [api]);
  withUser.all = { ...withUser.all, ...secrets.all };
  withUser.spec = { ...withUser.spec, isPaused: true };
  const { write, problems, users } = withUser.decide();
  expect([write, problems]).toEqual([undefined, []]);
  expect(users.get(api.secret)?.problem?.reason).toBe('Paused');
});

describe('a certificate that is not renewed', () => {
  const problemOf = (secrets: TestSecrets) => secrets.decide().users.get(api.secret)?.problem;

  test('says so when its renewal is overdue, and when it has expired', async () => {
    const secrets = (await filled()).empty('clients');
    secrets.now = begin + 59 * day;
    expect(problemOf(secrets)).toBeUndefined();
    secrets.now = begin + 61 * day;
    expect(problemOf(secrets)).toMatchObject({
      reason: 'CannotWrite',
      message: expect.stringMatching(
        /^the certificate in Secret orders-user-api ends at 2026-04-01T00:00:00Z and cannot be renewed: Secret orders-client-ca is empty/,
      ),
    });
    secrets.now = begin + 91 * day;
    expect(problemOf(secrets)).toMatchObject({
      reason: 'Expired',
      message: expect.stringMatching(/^the certificate in Secret orders-user-api expired at 2026-04-01T00:00:00Z and /),
    });
  });

  test.each<[string, (secrets: TestSecrets) => unknown, RegExp]>([
    ['its authority is not read', (secrets) => secrets.put('clients', unknown('forbidden')), /: forbidden$/],
    ['the root of its authority ends', (secrets) => secrets.set('clients', { 'root.key': undefined }), /root\.key/],
  ])('%s', async (_, change, message) => {
    const secrets = await filled();
    change(secrets);
    // The last of them ends with the intermediate.
    secrets.now = begin + 61 * day;
    for (let count = 0; count < 6; count++) {
      await secrets.settle();
      secrets.now += 61 * day;
    }
    expect(problemOf(secrets)?.message).toMatch(message);
  });

  test('nothing is wrong while it can be', async () => {
    const secrets = await filled();
    for (let count = 0; count < 8; count++) {
      secrets.now += 61 * day;
      await secrets.settle();
      expect(problemOf(secrets)).toBeUndefined();
    }
  });
});

test('while two certificates of the cluster have one Secret, every user says so', () => {
  const spec = { tls: tls({}, { serverSecret: 'orders-peer-tls', rootSecret: 'orders-root-tls' }) };
  const { refusedUsers } = wantedOf('orders', 'shop', spec, { wishes: [api], since: 0 })!;
  expect(refusedUsers[api.secret]).toMatch(/names Secret orders-peer-tls twice/);
});

test('a Secret of the cluster is refused', () => {
  const managed = { peerAuthority: 'p', clientAuthority: 'a' };
  const spec = { tls: { peerSecret: 'q', serverSecret: 's', clientSecret: 'c', managed } };
  const wishes = [
    { ...api, secret: 'a' },
    { ...web, secret: 'y' },
  ];
  const { refusedUsers, leaves, isAmbiguous } = wantedOf('orders', 'shop', spec, { wishes, since: 0 })!;
  expect(Object.keys(refusedUsers).sort()).toEqual(['a']);
  expect(Object.keys(leaves)).toEqual(['peer', 'server', 'client', 'user/y']);
  expect(isAmbiguous).toBe(false);
});

test('what is to be emptied for a new authority has the Secrets of users in it', async () => {
  const secrets = await filled();
  const [problem] = secrets.empty('clients').decide().problems;
  expect(problem?.message).toMatch(/to start anew, .*, empty .*orders-user-api and orders-user-web, wait/);
});
