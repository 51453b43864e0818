import { unknown } from '../../../protocol/known.ts';
import { agent, longAgo, unborn, World } from '../../port/observed.fixture.ts';

// The certificates come from Secret `a` until now, and are to come from `b`.
const alone = (own: string) => ({ own, trusted: [own] });
const both = (own: string) => ({ own, trusted: own === 'a' ? ['a', 'b'] : ['b', 'a'] });

const statusOf = (made: World, type: string) => made.plan().conditions.find((each) => each.type === type)?.status;

type Peers = ReturnType<typeof alone>;

/** A cluster whose template differs from all its pods, and fits the spec. */
const world = (next: Peers, ...pods: Peers[]) => {
  const alsoTrusts = next.trusted.length > 1 ? { alsoTrusts: next.trusted } : {};
  const made = new World(pods.length, { tls: true, ...alsoTrusts }).sts({ updateRevision: 'r2', peers: next });
  pods.forEach((peers, ordinal) => {
    made.pod(ordinal, { peers });
  });
  return made;
};

test.each([
  ['both trusted', both('a'), [alone('a'), alone('a'), alone('a')]],
  ['both trusted, on the way', both('a'), [alone('a'), alone('a'), both('a')]],
  ['to the other', both('b'), [both('a'), both('a'), both('a')]],
  ['to the other, on the way', both('b'), [both('a'), both('b'), both('b')]],
  ['taken back on the way', both('a'), [both('a'), both('b'), both('b')]],
  ['the other alone', alone('b'), [both('b'), both('b'), both('b')]],
  ['the other alone, on the way', alone('b'), [both('b'), both('b'), alone('b')]],
  ['given up before the other', alone('a'), [both('a'), both('a'), alone('a')]],
  ['a single member, both trusted', both('a'), [alone('a')]],
  ['a single member, to the other', both('b'), [both('a')]],
  ['a single member, the other alone', alone('b'), [both('b')]],
])('%s: members restart', (_, next, pods) => {
  const made = world(next, ...pods);
  expect(made.reason('Accepted')).toBe('SpecAccepted');
  expect(made.rule).toBe('RestartPod');
});

test.each([
  ['in one step', alone('b'), [alone('a'), alone('a'), alone('a')], /from Secret b, but c-0 does not trust/],
  ['before all trust it', both('b'), [both('a'), both('a'), alone('a')], /from Secret b, but c-2 does not trust/],
  ['too early alone', alone('b'), [both('b'), both('a'), both('b')], /c-1 has its certificate from Secret a, whose/],
  ['a single member, in one step', alone('b'), [alone('a')], /from Secret b, but c-0 does not trust/],
  ['a single member, too early alone', alone('b'), [both('a')], /c-0 has its certificate from Secret a, whose/],
  ['back too far', alone('a'), [both('a'), both('a'), both('b')], /c-2 has its certificate from Secret b, whose/],
])('%s: no member restarts or joins, and the condition says which step is missing', (_, next, pods, message) => {
  const made = world(next, ...pods);
  expect(made.effect).toBeUndefined();
  expect(made.reason('Accepted')).toBe('TlsRefused');
  expect(made.message('Accepted')).toMatch(message);
  expect(made.message('Accepted')).toContain('alsoTrust');
  expect(made.spec({ size: 5 }).effect).toBeUndefined();
});

test('a member that does not serve, as it came back too early, holds nobody', () => {
  const made = world(alone('a'), alone('a'), alone('a'), alone('b')).down(2).pod(2, { ready: false });
  made.agent(2, agent(2, { etcd: { ...agent(2).etcd!, hasLeader: false } }));
  expect(made.reason('Accepted')).toBe('SpecAccepted');
  expect(made.written?.op).toMatchObject({ kind: 'DeletePod', ordinal: 2 });
});

test('until the authorities of both are in one Secret, no member restarts', () => {
  const why = 'Secret b has no ca.crt yet';
  const made = world(both('a'), alone('a'), alone('a'), alone('a')).resource({ trust: { isComplete: false, why } });
  expect(made.effect).toBeUndefined();
  expect(made.reason('Accepted')).toBe('SpecAccepted');
  expect(made.reason('CertificatesReady')).toBe('WaitingForSecrets');
  expect(made.message('CertificatesReady')).toBe(`no member is restarted yet: ${why}`);
  expect(made.resource({ trust: { isComplete: true } }).rule).toBe('RestartPod');
  expect(made.reason('CertificatesReady')).toBeUndefined();
});

test('the source that the pods do not start with loses a Secret: reported, and members may still restart', () => {
  const made = world(both('a'), both('a'), both('b'), both('b')).resource({ trust: { isComplete: true, why: 'gone' } });
  expect(made.rule).toBe('RestartPod');
  expect(made.message('CertificatesReady')).toBe('members keep the authorities of both sources: gone');
});

test.each([
  [
    'the template alone was applied',
    both('a'),
    {},
    'trusts the certificates in the Secrets a and b, but spec.tls.alsoTrust is missing',
  ],
  ['the EtcdCluster alone was applied', alone('a'), { alsoTrusts: ['a', 'b'] }, 'spec.tls names a and b'],
  ['they name different sources', both('a'), { alsoTrusts: ['a', 'c'] }, 'spec.tls names a and c'],
])('%s: no member restarts', (_, next, spec, message) => {
  const made = new World(3, { tls: true, ...spec }).sts({ updateRevision: 'r2', peers: next });
  for (const ordinal of [0, 1, 2]) made.pod(ordinal, { peers: alone('a') });
  expect(made.effect).toBeUndefined();
  expect(made.reason('Accepted')).toBe('TemplateMismatch');
  expect(made.message('Accepted')).toContain(message);
});

test('a member that has not loaded the authorities that its ca.crt has now would refuse the others', () => {
  const made = world(both('b'), both('a'), both('a'), both('a'));
  made.agent(1, agent(1, { roots: { peer: { loaded: 'A+B', onDisk: 'A+C' }, client: { loaded: 'A', onDisk: 'A' } } }));
  expect(made.effect).toBeUndefined();
  expect(made.message('Accepted')).toMatch(/c-1 trusts the roots A\+B, but its ca.crt has A\+C/);
});

test('users: nothing restarts for another source while authentication is on or asked for', () => {
  const off = { isWanted: false, removed: 0 };
  const seen = { isEnabled: true, hasUsers: true, age: 0 };
  for (const authentication of [
    { ...off, isWanted: true },
    { ...off, seen },
  ]) {
    const made = world(both('a'), alone('a'), alone('a'), alone('a')).resource({
      authentication,
      trust: { isComplete: true },
    });
    expect(made.effect).toBeUndefined();
    expect(made.message('Accepted')).toMatch(/while authentication is on or asked for/);
  }
});

describe('the reconciler cannot verify the members, as it was given the new authority too early', () => {
  const blind = (next: Peers, ...pods: Peers[]) => {
    const made = world(next, ...pods);
    pods.forEach((_, ordinal) => {
      made.down(ordinal).agent(ordinal, undefined);
    });
    made.o.since.quorumLost = longAgo;
    return made.set({ members: unknown('self-signed certificate'), alarms: unknown('self-signed certificate') });
  };

  test.each([
    ['three members', [alone('a'), alone('a'), alone('a')]],
    ['one of three with the new certificate', [both('a'), both('a'), both('b')]],
    ['a single member', [both('a')]],
  ])('%s: it says why, and calls no quorum lost that serves', (_, pods) => {
    const made = blind(alone('b'), ...pods);
    expect(made.effect).toBeUndefined();
    expect(made.reason('Accepted')).toBe('TlsRefused');
    expect(statusOf(made, 'QuorumLost')).toBe('Unknown');
  });

  test('it is lost all the same if no pod is ready', () => {
    const made = blind(alone('b'), alone('a'), alone('a'), alone('a'));
    for (const ordinal of [0, 1, 2]) made.pod(ordinal, { ready: false });
    expect(statusOf(made, 'QuorumLost')).toBe('True');
    expect(made.reason('Accepted')).toBe('TlsRefused');
  });
});

describe('pods that hold nothing are no reason to refuse a template', () => {
  test('a new cluster whose Secret had a wrong name gets the right one', () => {
    for (const began of [false, true]) {
      const made = unborn()
        .spec({ tls: true })
        .sts({ updateRevision: 'r2', peers: alone('b') });
      for (const ordinal of [0, 1, 2]) made.pod(ordinal, { peers: alone('typo'), began });
      expect(made.reason('Accepted')).not.toBe('TlsRefused');
    }
  });

  test('pods of a later cluster that never began', () => {
    const made = world(alone('b'), alone('typo'), alone('typo'), alone('typo'));
    for (const ordinal of [0, 1, 2])
      made.down(ordinal).agent(ordinal, undefined).pod(ordinal, { began: false, ready: false });
    expect(made.reason('Accepted')).not.toBe('TlsRefused');
  });
});

test('while the pods are not known, nothing is made from a template of another source', () => {
  const made = world(alone('b'), alone('a'), alone('a'), alone('a')).sts({ replicas: 2 });
  made.set({ pods: unknown('no answer') });
  expect(made.effect).toBeUndefined();
});

test('a member that is briefly not ready, and sees its leader, still counts', () => {
  const made = world(alone('b'), both('b'), both('a'), both('b')).spec({ ephemeral: true }).pod(1, { ready: false });
  expect(made.effect).toBeUndefined();
  expect(made.reason('Accepted')).toBe('TlsRefused');
});

test('the EtcdCluster was applied too early, without its template: that hides no quorum either', () => {
  const made = world(both('a'), both('a'), both('a'), both('a')).spec({ alsoTrusts: undefined as never });
  for (const ordinal of [0, 1, 2]) made.down(ordinal).agent(ordinal, undefined);
  made.o.since.quorumLost = longAgo;
  made.set({ members: unknown('self-signed certificate'), alarms: unknown('self-signed certificate') });
  expect(made.reason('Accepted')).toBe('TemplateMismatch');
  expect(statusOf(made, 'QuorumLost')).toBe('Unknown');
});
