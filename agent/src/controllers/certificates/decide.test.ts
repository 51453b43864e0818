import { known, unknown } from '../../protocol/known.ts';
import { issueIntermediate, issueLeaf, issueRoot } from './issue.ts';
import { begin, day, type SecretName, TestSecrets, tls } from './secrets.fixture.ts';
import { wantedOf } from './wanted.ts';

const authorities = ['peers', 'clients'] as const;
const leaves = ['peer', 'server', 'client'] as const;
const all: readonly SecretName[] = [...authorities, ...leaves];

/** Returns the reasons of all writes, in order. */
const settled = async (secrets: TestSecrets) => (await secrets.settle()).map((line) => line.split(':')[0]);

test('issues everything, authorities first, and then nothing', async () => {
  const secrets = new TestSecrets();
  expect(secrets.reasons).toEqual(['Issuing', 'Issuing']);
  expect(await settled(secrets)).toEqual([
    'authority peers',
    'authority clients',
    'leaf peer',
    'leaf server',
    'leaf client',
  ]);
  const { problems, unread, write, certificates } = secrets.decide();
  expect({ problems, unread, write }).toEqual({ problems: [], unread: [], write: undefined });
  expect(
    certificates.map(({ secret, notAfter, renewAt }) => [secret, notAfter.slice(0, 10), renewAt?.slice(0, 10)]),
  ).toEqual([
    ['orders-peer-ca', '2027-01-01', '2026-09-01'],
    ['orders-client-ca', '2027-01-01', '2026-09-01'],
    ['orders-peer-tls', '2026-04-01', '2026-03-01'],
    ['orders-server-tls', '2026-04-01', '2026-03-01'],
    ['orders-client-tls', '2026-04-01', '2026-03-01'],
  ]);
  const roots = certificates.map(({ root }) => root);
  expect(roots[0]).toMatch(/^[0-9a-f]{16}$/);
  expect(roots).toEqual([roots[0], roots[1], roots[0], roots[1], roots[1]]);
  expect(roots[0]).not.toBe(roots[1]);
});

test('writes nothing while the cluster is paused, and reports what waits', async () => {
  const secrets = await TestSecrets.filled();
  secrets.spec = { ...secrets.spec, isPaused: true };
  expect(secrets.reasons).toEqual([]);
  secrets.now += 61 * day;
  expect(secrets.decide().write).toBeUndefined();
  expect(secrets.decide()).toMatchObject({
    problems: [{ reason: 'Paused', message: expect.stringContaining('Secret orders-peer-tls is not written while') }],
  });
  secrets.spec = { ...secrets.spec, isPaused: false };
  expect(await settled(secrets)).toEqual(['leaf peer', 'leaf server', 'leaf client']);
});

describe('a clock that differs from that of the API server', () => {
  const minute = 60_000;
  test.each([
    [6 * minute, '6 minutes ahead of'],
    [-5 * 3_600_000, '5 hours behind'],
    [-90 * day, '90 days behind'],
  ])('by %i ms keeps anything from being written, and says so', async (clockAhead, words) => {
    const problem = {
      reason: 'ClockDiffers',
      message: `the clock of the reconciler is ${words} that of the API server, so no certificate is made or renewed: correct the clock of the node that is wrong`,
    };
    const secrets = new TestSecrets();
    expect(secrets.decide({ clockAhead }).write).toBeUndefined();
    expect(secrets.decide({ clockAhead }).problems[0]).toEqual(problem);
    await secrets.settle();
    // Even while nothing is due: by a clock that is behind, nothing ever is.
    expect(secrets.decide({ clockAhead }).problems).toEqual([problem]);
    secrets.now += 61 * day;
    expect(secrets.decide({ clockAhead }).write).toBeUndefined();
  });

  test('by a little does no harm', () => {
    for (const clockAhead of [0, 5 * minute, -5 * minute]) {
      const { write, problems } = new TestSecrets().decide({ clockAhead });
      expect(write).toBeDefined();
      expect(problems.map(({ reason }) => reason)).toEqual(['Issuing', 'Issuing']);
    }
  });
});

test('keeps whatever else a Secret has, and its version', async () => {
  const secrets = new TestSecrets();
  secrets.set('peers', { other: 'kept' });
  await secrets.settle();
  expect(secrets.text('peers', 'other')).toBe('kept');
  expect(secrets.all.peers).toMatchObject({ v: { kind: 'Secret', metadata: { resourceVersion: '1' } } });
});

test('a write leaves nothing in the annotation of kubectl that its next apply would remove', async () => {
  const name = 'kubectl.kubernetes.io/last-applied-configuration';
  const applied = async (value: string) => {
    const secrets = new TestSecrets().annotate('peers', { [name]: value, team: 'a' });
    await secrets.settle();
    return secrets.all.peers.known && secrets.all.peers.v?.metadata.annotations;
  };
  const harmless = JSON.stringify({ kind: 'Secret', metadata: { labels: { data: 'x' } } });
  expect(await applied(harmless)).toEqual({ [name]: harmless, team: 'a' });
  for (const text of [{ data: { 'root.key': 'eA==' } }, { stringData: { 'root.key': 'x' } }])
    expect(await applied(JSON.stringify(text))).toEqual({ team: 'a' });
  expect(await applied('{"data":')).toEqual({ team: 'a' });
});

describe('a leaf is issued again', () => {
  const broken = (name: (typeof leaves)[number], key: string, text: string | undefined) =>
    [`${name}: ${key} is ${text === undefined ? 'missing' : `'${text}'`}`, name, key, text] as const;
  test.each([
    ...leaves.flatMap((name) => ['tls.crt', 'tls.key', 'ca.crt'].map((key) => broken(name, key, undefined))),
    ...['tls.crt', 'tls.key', 'ca.crt'].flatMap((key) => ['', 'x'].map((text) => broken('server', key, text))),
  ])('%s', async (_, name, key, text) => {
    const secrets = await TestSecrets.filled();
    secrets.set(name, { [key]: text });
    expect(secrets.reasons).toEqual(['Issuing']);
    expect(await settled(secrets)).toEqual([`leaf ${name}`]);
    expect(secrets.reasons).toEqual([]);
  });

  test('when its key belongs to another certificate', async () => {
    const secrets = await TestSecrets.filled();
    secrets.set('server', { 'tls.key': secrets.text('client', 'tls.key') });
    expect(await settled(secrets)).toEqual(['leaf server']);
  });

  test('when its chain is incomplete, or belongs to another leaf', async () => {
    const secrets = await TestSecrets.filled();
    const [own] = secrets.text('server', 'tls.crt').split(/(?<=END CERTIFICATE-----\n)/);
    expect(await settled(secrets.set('server', { 'tls.crt': own! }))).toEqual(['leaf server']);
    expect(await settled(secrets.set('server', { 'tls.crt': own! + own! }))).toEqual(['leaf server']);
    const { peer } = secrets.all;
    secrets.set('server', { 'tls.crt': secrets.text('peer', 'tls.crt'), 'tls.key': secrets.text('peer', 'tls.key') });
    expect(await settled(secrets)).toEqual(['leaf server']);
    expect(secrets.all.peer).toBe(peer);
  });

  test('when other names are wanted', async () => {
    const secrets = await TestSecrets.filled();
    secrets.spec = new TestSecrets({ serverNames: ['etcd.example.com'] }).spec;
    expect(await settled(secrets)).toEqual(['leaf server']);
    secrets.spec = wantedOf(
      'orders',
      'shop',
      { tls: tls({ serverNames: ['etcd.example.com'] }), clusterDomain: 'corp.example' },
      undefined,
    )!;
    expect(await settled(secrets)).toEqual(['leaf peer', 'leaf server']);
  });

  test('when its usages are others', async () => {
    const secrets = await TestSecrets.filled();
    const of = (key: string) => secrets.text('clients', key);
    const intermediate = { cert: of('tls.crt'), key: of('tls.key') };
    const { cert, key } = await issueLeaf({ ...secrets.spec.shapes.server, isServer: false }, intermediate, begin);
    secrets.set('server', { 'tls.crt': cert + intermediate.cert, 'tls.key': key });
    expect(await settled(secrets)).toEqual(['leaf server']);
  });

  test('when two thirds of its life are over, and is good until then', async () => {
    const secrets = await TestSecrets.filled();
    const due = secrets.decide().dueAt;
    expect((due - begin) / day).toBeCloseTo(60, 1);
    secrets.now = due - 1;
    expect(secrets.decide().write).toBeUndefined();
    secrets.now = due;
    expect(secrets.reasons).toEqual([]);
    expect(await secrets.settle()).toEqual(leaves.map((name) => `leaf ${name}: two thirds of its life are over`));
    expect(secrets.decide().dueAt).toBeGreaterThan(due + 59 * day);
  });

  test('when it has expired', async () => {
    const secrets = await TestSecrets.filled();
    secrets.now = begin + 100 * day;
    expect(await settled(secrets)).toEqual(['leaf peer', 'leaf server', 'leaf client']);
  });
});

describe('an intermediate is created again, its leaves follow, and the root stays', () => {
  const half = ['intermediate clients', 'leaf server', 'leaf client'];
  async function rotates(secrets: TestSecrets, expected: string[]) {
    const roots = authorities.map((name) => secrets.text(name, 'root.crt') + secrets.text(name, 'root.key'));
    const trusted = leaves.map((name) => secrets.text(name, 'ca.crt'));
    expect(await settled(secrets)).toEqual(expected);
    expect(authorities.map((name) => secrets.text(name, 'root.crt') + secrets.text(name, 'root.key'))).toEqual(roots);
    expect(leaves.map((name) => secrets.text(name, 'ca.crt'))).toEqual(trusted);
  }

  test.each([
    ['tls.crt is missing', { 'tls.crt': undefined }],
    ['tls.crt is not one', { 'tls.crt': 'x' }],
    ['tls.key is missing', { 'tls.key': undefined }],
    ['tls.key is not one', { 'tls.key': 'x' }],
  ])('when its %s', async (_, change) => {
    const secrets = await TestSecrets.filled();
    secrets.set('clients', change);
    // The certificates that it signed stay valid.
    expect(secrets.reasons).toEqual(['Issuing']);
    await rotates(secrets, half);
  });

  test('when it belongs to another root', async () => {
    const secrets = await TestSecrets.filled();
    const of = (key: string) => secrets.text('peers', key);
    secrets.set('clients', { 'tls.crt': of('tls.crt'), 'tls.key': of('tls.key') });
    await rotates(secrets, half);
  });

  test('when two thirds of its life are over', async () => {
    const secrets = await TestSecrets.filled();
    secrets.now = begin + 244 * day;
    await rotates(secrets, ['intermediate peers', 'intermediate clients', 'leaf peer', 'leaf server', 'leaf client']);
    secrets.now += 61 * day;
    await rotates(secrets, ['leaf peer', 'leaf server', 'leaf client']);
  });

  test('when the spec requests it with another value, once', async () => {
    const secrets = await TestSecrets.filled();
    const both = ['intermediate peers', 'intermediate clients', 'leaf peer', 'leaf server', 'leaf client'];
    for (const intermediateRotation of ['2026', '2027', '2026']) {
      secrets.spec = new TestSecrets({ intermediateRotation }).spec;
      expect(secrets.reasons).toEqual([]);
      await rotates(secrets, both);
      expect(secrets.text('peers', 'rotation')).toBe(intermediateRotation);
    }
    // A missing value requests nothing, nor does the same value when it comes back.
    secrets.spec = new TestSecrets().spec;
    await rotates(secrets, []);
    secrets.spec = new TestSecrets({ intermediateRotation: '2026' }).spec;
    await rotates(secrets, []);
  });

  test('a new authority has the value already', async () => {
    const secrets = await TestSecrets.filled({ intermediateRotation: '2026' });
    expect([secrets.text('clients', 'rotation'), secrets.decide().write]).toEqual(['2026', undefined]);
  });
});

describe('an authority whose Secret is empty', () => {
  test.each([
    ['peers', ['peer']],
    ['clients', ['server', 'client']],
  ] as const)('%s: is not made again while a Secret of its leaves holds anything', async (name, own) => {
    const secrets = await TestSecrets.filled();
    secrets.empty(name);
    expect(await settled(secrets)).toEqual([]);
    const [{ reason, message }] = secrets.decide().problems as [{ reason: string; message: string }];
    expect(reason).toBe('AuthorityLost');
    for (const leaf of own) expect(message).toContain(secrets.spec.leaves[leaf]);
    expect(message).toContain(`bring Secret ${secrets.spec.authorities[name]} back`);
    // None of them is renewed, and no time is promised.
    const kept = secrets
      .decide()
      .certificates.filter(({ secret }) => own.some((leaf) => secrets.spec.leaves[leaf] === secret));
    expect(kept.map(({ renewAt }) => renewAt)).toEqual(own.map(() => undefined));
    secrets.now = begin + 80 * day;
    const others = leaves.filter((leaf) => !(own as readonly string[]).includes(leaf));
    expect(await settled(secrets)).toEqual(others.map((leaf) => `leaf ${leaf}`));
  });

  test('is created again once its leaves are empty too', async () => {
    const secrets = await TestSecrets.filled();
    const root = secrets.text('peers', 'root.crt');
    secrets.empty('peers').empty('peer');
    expect(await settled(secrets)).toEqual(['authority peers', 'leaf peer']);
    expect(secrets.text('peers', 'root.crt')).not.toBe(root);
  });

  describe('while the status names its root', () => {
    const had = { peers: { root: 'abcdef' }, clients: { root: '123456' } };
    const lost = async () => {
      const secrets = await TestSecrets.filled();
      secrets.had = had;
      for (const name of all) secrets.empty(name);
      return secrets;
    };

    test('is not created again, even if all its leaves are empty too', async () => {
      const secrets = await lost();
      expect(await settled(secrets)).toEqual([]);
      expect(secrets.reasons).toEqual(['AuthorityLost', 'AuthorityLost']);
      expect(secrets.decide().problems[0]!.message).toBe(
        'Secret orders-peer-ca is empty, but held the root abcdef, which running members may still trust: bring Secret orders-peer-ca back from a backup (kubectl replace -f); or, to start anew, follow "Replace an authority" in docs/clusters/tls.md in its order: run kubectl annotate secret orders-peer-ca cdk8s-etcd.dev/new-authority=yes, wait until all are filled, and delete the pods of all members at once, which stops the cluster until they run again',
      );
      // For any state of the leaves.
      expect(secrets.put('peer', known(undefined)).reasons).toContain('AuthorityLost');
    });

    test('and is not there, nor are its leaves: another root is not made unseen', async () => {
      const secrets = await TestSecrets.filled();
      const { peers } = secrets.all;
      secrets.had = had;
      for (const name of all) secrets.put(name, known(undefined));
      expect(secrets.reasons).toContain('AuthorityLost');
      const [problem] = secrets.decide().problems;
      expect(problem!.message).toBe(
        'Secret orders-peer-ca does not exist, but held the root abcdef, which running members may still trust: this reconciler does not know the authority: create the Secret from a backup (kubectl create -f) before you apply the manifests again; without a backup, apply them, and the next message says how to start anew',
      );
      const others = secrets.decide().problems.map(({ message }) => message);
      expect(others).toContain('Secret orders-peer-tls does not exist either; see to Secret orders-peer-ca first');
      expect(others.join()).not.toContain('; apply the manifests of the cluster');
      expect(secrets.decide({ kept: new Set(['peers']) }).problems[0]!.message).toMatch(
        / held the root abcdef, .*: apply the manifests of the cluster again, and this reconciler writes the authority back/,
      );
      // Done as it says, without a backup: the manifests make empty Secrets, and nothing goes on by itself.
      const applied = new TestSecrets().all;
      for (const name of all) secrets.put(name, applied[name]!);
      expect(await settled(secrets)).toEqual([]);
      expect(secrets.decide().problems[0]!.message).toMatch(/ held the root abcdef, .*to start anew, follow /);
      // With a backup.
      secrets.put('peers', peers);
      expect(await settled(secrets)).toContain('leaf peer');
    });

    test.each(['yes', ''])('is created again when it is requested with %p, once', async (value) => {
      const secrets = await lost();
      secrets.annotate('peers', { 'cdk8s-etcd.dev/new-authority': value, team: 'a' });
      expect(await settled(secrets)).toEqual(['authority peers', 'leaf peer']);
      expect(secrets.all.peers).toMatchObject({ v: { metadata: { annotations: { team: 'a' } } } });
      secrets.empty('peers').empty('peer');
      expect(await settled(secrets)).toEqual([]);
    });

    test('is not created while leaves of the old one exist, even if it is requested', async () => {
      const secrets = await TestSecrets.filled();
      secrets.had = had;
      secrets.empty('peers').annotate('peers', { 'cdk8s-etcd.dev/new-authority': 'yes' });
      expect(await settled(secrets)).toEqual([]);
      expect(secrets.decide().problems[0]!.message).toContain(
        'run kubectl annotate secret orders-peer-ca cdk8s-etcd.dev/new-authority=yes, empty orders-peer-tls, wait',
      );
    });

    test('is renewed as usual while it exists', async () => {
      const secrets = await TestSecrets.filled();
      secrets.had = had;
      secrets.now = begin + 61 * day;
      expect(await settled(secrets)).toEqual(['leaf peer', 'leaf server', 'leaf client']);
    });
  });

  test('continues when it is restored', async () => {
    const secrets = await TestSecrets.filled();
    const { peers } = secrets.all;
    secrets.empty('peers');
    await secrets.settle();
    secrets.put('peers', peers);
    expect(secrets.decide()).toMatchObject({ problems: [] });
    expect(await settled(secrets)).toEqual([]);
  });

  test('is not created while a Secret of its leaves is unknown, missing, or unparsable', async () => {
    const made = async (change: (secrets: TestSecrets) => void) => {
      const secrets = new TestSecrets();
      change(secrets);
      return settled(secrets);
    };
    const peers = ['authority peers', 'leaf peer'];
    expect(await made((secrets) => secrets.put('server', unknown('no answer')))).toEqual(peers);
    expect(await made((secrets) => secrets.put('client', known(undefined)))).toEqual(peers);
    expect(await made((secrets) => secrets.set('client', { 'tls.key': 'x' }))).toEqual(peers);
  });
});

describe('an unusable authority is never overwritten, and its certificates are kept', () => {
  const other = { root: '', key: '' };
  beforeAll(async () => {
    const { cert, key } = await issueRoot('other', begin);
    Object.assign(other, { root: cert, key });
  });
  const foreign = ['AuthorityInvalid', 'ForeignCertificate', 'ForeignCertificate'];
  const cases: [string, () => Record<string, string | undefined>, string[]][] = [
    ['root.crt is missing', () => ({ 'root.crt': undefined }), ['AuthorityInvalid']],
    ['root.crt cannot be parsed', () => ({ 'root.crt': 'x' }), ['AuthorityInvalid']],
    ['root.crt has two certificates', () => ({ 'root.crt': other.root + other.root }), ['AuthorityInvalid']],
    ['root.key is missing', () => ({ 'root.key': undefined }), ['AuthorityInvalid']],
    ['root.key cannot be parsed', () => ({ 'root.key': 'x' }), ['AuthorityInvalid']],
    ['root.key is another one', () => ({ 'root.key': other.key }), ['AuthorityInvalid']],
    ['only the intermediate is left', () => ({ 'root.crt': undefined, 'root.key': undefined }), ['AuthorityInvalid']],
    ['root.crt is another one, with another key', () => ({ 'root.crt': other.root }), foreign],
  ];
  test.each(cases)('%s', async (_, change, reasons) => {
    const secrets = await TestSecrets.filled();
    secrets.set('clients', change());
    const before = secrets.all.clients;
    expect(secrets.reasons).toEqual(reasons);
    expect(await settled(secrets)).toEqual([]);
    secrets.now = begin + 300 * day;
    await secrets.settle();
    expect(secrets.all.clients).toBe(before);
  });

  test('without the root’s key its intermediate continues to sign', async () => {
    const secrets = await TestSecrets.filled();
    secrets.set('clients', { 'root.key': undefined });
    const renewAt = () => secrets.decide().certificates.map((each) => each.renewAt !== undefined);
    expect(renewAt()).toEqual([true, false, true, true, true]);
    secrets.now = begin + 61 * day;
    expect(await settled(secrets)).toEqual(['leaf peer', 'leaf server', 'leaf client']);
    expect(secrets.reasons).toEqual(['AuthorityInvalid']);
    // Until the end of the intermediate, and not repeatedly.
    secrets.now = begin + 300 * day;
    expect(await settled(secrets)).toContain('leaf client');
    secrets.now = begin + 350 * day;
    expect((await settled(secrets)).filter((line) => /server|client/.test(line!))).toEqual([]);
  });

  test('a root that is a leaf, or of another kind of key', async () => {
    const secrets = await TestSecrets.filled();
    secrets.set('clients', { 'root.crt': secrets.text('client', 'tls.crt') });
    expect(secrets.reasons).toEqual(['AuthorityInvalid']);
    secrets.set('clients', { 'root.crt': secrets.text('clients', 'tls.crt') });
    expect(secrets.reasons).toEqual(['AuthorityInvalid']);
  });
});

describe('an authority in the Secret of the other one', () => {
  const later = begin + 300 * day;
  const keys = ['root.crt', 'root.key', 'tls.crt', 'tls.key'];
  const contentOf = (secrets: TestSecrets, of: SecretName) =>
    Object.fromEntries(keys.map((key) => [key, secrets.text(of, key)]));

  test('both have the same root: neither is used', async () => {
    const secrets = await TestSecrets.filled();
    const root = await issueRoot('theirs', begin);
    const intermediate = await issueIntermediate('theirs', root, begin);
    const theirs = {
      ...{ 'root.crt': root.cert, 'root.key': root.key, 'tls.crt': intermediate.cert, 'tls.key': intermediate.key },
    };
    for (const content of [contentOf(secrets, 'clients'), theirs]) {
      for (const name of all) secrets.empty(name);
      secrets.set('peers', content).set('clients', content);
      for (secrets.now of [begin, later]) {
        expect(secrets.reasons).toEqual(['AuthorityInvalid', 'AuthorityInvalid']);
        expect(await settled(secrets)).toEqual([]);
      }
    }
    expect(secrets.decide().problems[0]!.message).toContain(
      'Secret orders-peer-ca: its root is that of Secret orders-client-ca too, so a client could join as a member',
    );
  });

  test('one has the root of the other, which is missing, or they are swapped: no leaf is issued', async () => {
    const secrets = await TestSecrets.filled();
    const [peers, clients] = authorities.map((of) => contentOf(secrets, of)) as [object, object];
    secrets
      .set('peers', { ...clients })
      .put('clients', unknown('no answer'))
      .empty('peer');
    expect(secrets.reasons).toEqual(['AuthorityInvalid']);
    expect(await settled(secrets)).toEqual([]);
    secrets.put('clients', secrets.all.peers).set('clients', { ...peers });
    for (const leaf of leaves) secrets.empty(leaf);
    for (secrets.now of [begin, later]) {
      expect(secrets.reasons).toEqual(['AuthorityInvalid', 'AuthorityInvalid']);
      expect(await settled(secrets)).toEqual([]);
    }
    expect(secrets.decide().problems[0]!.message).toContain(
      'Secret orders-peer-ca: its root was made for Secret orders-client-ca',
    );
  });
});

describe('a foreign Secret is never overwritten', () => {
  async function others() {
    const root = await issueRoot('theirs', begin);
    const intermediate = await issueIntermediate('theirs', root, begin);
    const leaf = await issueLeaf(new TestSecrets().spec.shapes.server, intermediate, begin);
    return { 'ca.crt': root.cert, 'tls.crt': leaf.cert + intermediate.cert, 'tls.key': leaf.key };
  }

  test('a leaf with another root: complete, without its ca.crt, with a bundle, expired', async () => {
    const secrets = await TestSecrets.filled();
    const theirs = await others();
    const ours = secrets.text('server', 'ca.crt');
    for (const change of [
      theirs,
      { ...theirs, 'ca.crt': undefined },
      { ...theirs, 'ca.crt': 'x' },
      { ...theirs, 'ca.crt': ours + theirs['ca.crt'] },
      { 'ca.crt': theirs['ca.crt'], 'tls.crt': undefined, 'tls.key': undefined },
    ]) {
      secrets.set('server', change);
      expect(secrets.decide().problems).toMatchObject([
        { reason: 'ForeignCertificate', message: expect.stringContaining('Secret orders-server-tls') },
      ]);
      secrets.now = begin + 100 * day;
      expect(await settled(secrets)).not.toContain('leaf server');
      secrets.now = begin;
      await secrets.settle();
    }
    expect(await settled(secrets.empty('server'))).toContain('leaf server');
  });

  test('a leaf with our root in ca.crt but signed by another one is our own, damaged', async () => {
    const secrets = await TestSecrets.filled();
    const { 'ca.crt': _, ...theirs } = await others();
    expect(await settled(secrets.set('server', theirs))).toEqual(['leaf server']);
  });

  test.each(all)('%s: of the type of cert-manager', async (name) => {
    for (const secrets of [new TestSecrets(), await TestSecrets.filled()]) {
      const found = secrets.set(name, { 'tls.crt': 'x', 'tls.key': 'x' }).all[name];
      secrets.put(name, known({ ...(found?.known ? found.v! : undefined!), type: 'kubernetes.io/tls' }));
      secrets.now = begin + 61 * day;
      const { message } = secrets.decide().problems.find(({ reason }) => reason === 'ForeignCertificate')!;
      expect(message).toMatch(
        /^Secret orders-\S+ has the type kubernetes.io\/tls, as cert-manager writes it, .*; delete it/,
      );
      expect(secrets.reasons).not.toContain('AuthorityLost');
      const before = secrets.all[name];
      await secrets.settle();
      expect(secrets.all[name]).toBe(before);
    }
  });

  test('leaves that exist before any authority', async () => {
    const secrets = new TestSecrets();
    secrets.set('server', await others());
    expect(secrets.reasons).toEqual(['Issuing', 'AuthorityLost']);
    expect(await settled(secrets)).toEqual(['authority peers', 'leaf peer']);
  });
});

describe('a missing Secret', () => {
  test.each(all)('%s: is named', async (name) => {
    const secrets = await TestSecrets.filled();
    secrets.put(name, known(undefined));
    const isAuthority = name === 'peers' || name === 'clients';
    // An empty Secret of an authority could not be created from a backup any more.
    const message = isAuthority ? /does not exist, but .* from a backup .* before you apply/ : /does not exist; apply/;
    const reason = isAuthority ? 'AuthorityLost' : 'WaitingForSecrets';
    expect(secrets.decide().problems).toEqual([{ reason, message: expect.stringMatching(message) }]);
    expect(await settled(secrets)).toEqual([]);
  });

  test.each(all)('%s: like one that cannot be read, does not block the others', async (name) => {
    const secrets = await TestSecrets.filled();
    secrets.put(name, unknown('forbidden'));
    secrets.now = begin + 61 * day;
    const kept: Partial<Record<SecretName, string[]>> = {
      peers: ['peer'],
      clients: ['server', 'client'],
      peer: ['peer'],
      server: ['server'],
      client: ['client'],
    };
    const due = leaves.filter((leaf) => !kept[name]!.includes(leaf));
    expect(secrets.decide()).toMatchObject({ problems: [], unread: [{ why: 'forbidden' }] });
    expect(await settled(secrets)).toEqual(due.map((leaf) => `leaf ${leaf}`));
  });
});

test('a Secret that cannot be written is skipped, with all that depend on it', async () => {
  const secrets = new TestSecrets();
  const { authorities } = secrets.spec;
  expect(secrets.decide({ failed: new Set([authorities.peers]) }).write).toMatchObject({ of: 'clients' });
  await secrets.settle();
  secrets.now = begin + 250 * day;
  // The present intermediate continues to sign until another one can be written.
  expect(secrets.decide({ failed: new Set(Object.values(authorities)) }).write).toMatchObject({
    make: 'leaf',
    of: 'peer',
  });
});

describe('the end of a root', () => {
  test('is reported a year before if no other root could replace it, and nothing is renewed repeatedly', async () => {
    const secrets = await TestSecrets.filled();
    const end = begin + 3650 * day;
    let writes = 0;
    for (secrets.now = begin + 3000 * day; secrets.now < end; secrets.now += 20 * day) {
      const before = writes;
      writes += (await secrets.settle()).length;
      expect(writes - before).toBeLessThanOrEqual(5);
      const left = (end - secrets.now) / day;
      // The members are unknown, so no other root replaces it.
      expect([...new Set(secrets.reasons)]).toEqual([left > 365 ? 'RotatingRoot' : 'RootExpiring']);
    }
    // 11 rounds of leaves that are due, and 4 of intermediates, which their leaves follow.
    expect(writes).toBeLessThan(5 + 3 * 11 + 5 * 4);
    expect(secrets.decide().problems[0]!.message).toMatch(
      /^the root in Secret orders-peer-ca ends at \S+, and a member or client that trusts it alone accepts no certificate then; the root .* is being replaced by .*: the members are unknown: nobody asked$/,
    );
    // They belong to the next root, and outlive the present one.
    for (const { notAfter } of secrets.decide().certificates) expect(Date.parse(notAfter)).toBeGreaterThan(end);
  });
});

describe('a clock that was ahead, and was corrected', () => {
  test('leaves of the future are issued again, once', async () => {
    const secrets = await TestSecrets.filled();
    secrets.now = begin + 100 * day;
    await secrets.settle();
    secrets.now = begin;
    expect(secrets.reasons).toEqual(['Issuing', 'Issuing', 'Issuing']);
    expect(await secrets.settle()).toEqual(leaves.map((name) => `leaf ${name}: it is not valid yet`));
    expect(secrets.decide()).toMatchObject({ problems: [] });
    expect(secrets.decide().certificates.every(({ span }) => span.notBefore <= begin)).toBe(true);
  });

  test('so are intermediates, with the certificates that they signed', async () => {
    const secrets = await TestSecrets.filled();
    secrets.now = begin + 250 * day;
    await secrets.settle();
    secrets.now = begin;
    expect(await settled(secrets)).toEqual([
      ...authorities.map((name) => `intermediate ${name}`),
      ...leaves.map((name) => `leaf ${name}`),
    ]);
    expect(secrets.decide()).toMatchObject({ problems: [] });
  });

  test('a root of the future is reported, and signs nothing until it is valid', async () => {
    const secrets = await TestSecrets.filled();
    secrets.now = begin - 100 * day;
    expect(secrets.reasons).toEqual(['NotYetValid', 'NotYetValid', 'Issuing', 'Issuing', 'Issuing']);
    expect(secrets.decide().problems[0]!.message).toMatch(
      /^the root in Secret orders-peer-ca is valid from 2025-12-31T23:00:00Z on, .* or replace the authority$/,
    );
    expect(await settled(secrets)).toEqual([]);
    secrets.now = begin;
    expect(secrets.reasons).toEqual([]);
  });
});

describe('a spec that cannot be followed', () => {
  test('one Secret for two certificates: nothing is written', () => {
    const secrets = new TestSecrets({ peerAuthority: 'x', clientAuthority: 'x' });
    expect(secrets.decide()).toMatchObject({
      problems: [{ reason: 'TlsRefused', message: expect.stringContaining('names Secret x twice') }],
    });
    expect(secrets.decide().write).toBeUndefined();
  });

  test('a name that no certificate can have is left out, and reported', async () => {
    const secrets = new TestSecrets({ serverNames: ['etcd example', 'fe80::1%eth0', 'etcd.example.com'] });
    await secrets.settle();
    expect(secrets.decide()).toMatchObject({ problems: [{ reason: 'TlsRefused' }, { reason: 'TlsRefused' }] });
    expect(secrets.decide().problems[0]!.message).toContain("'etcd example' is neither a DNS name nor an IP address");
  });
});
