import type { AgentStatus } from '../../../protocol/agent-status.ts';
import { known, unknown } from '../../../protocol/known.ts';
import type { Transport } from '../../../protocol/record.ts';
import { peerUrl } from '../../port/names.ts';
import {
  agent,
  asking,
  encrypted,
  idOf,
  longAgo,
  now,
  plaintext,
  pod,
  status,
  World,
} from '../../port/observed.fixture.ts';
import type { AuthReport, ClusterSpec } from '../../port/observed.ts';

type Report = NonNullable<AgentStatus['transport']>;

const mounted = { peer: 'peer', server: 'server' };
const hour = 3_600_000;

const on = { tls: true, disablingTls: false };
const disabling = { tls: true, disablingTls: true };
const off = { tls: false, disablingTls: false };

/** The etcd of this ordinal was started so. */
const speaks = (world: World, ordinal: number, transport: Report): World =>
  world.agent(ordinal, agent(ordinal, { podUid: uidOf(world, ordinal), transport }));

const uidOf = ({ o }: World, ordinal: number): string =>
  (o.pods.known && o.pods.v.find((one) => one.ordinal === ordinal)?.uid) || '';

const all = (world: World): number[] => (world.o.members.known ? world.o.members.v.map((_, i) => i) : []);
const allSpeak = (world: World, transport: Report): World =>
  all(world).reduce((made, i) => speaks(made, i, transport), world);

const urls = (world: World): string[] =>
  world.o.members.known
    ? world.o.members.v.map(({ peerUrls }) => peerUrls.map((url) => url.split(':')[0]).join('+'))
    : [];

const withUrls = (world: World, ...schemes: ('http' | 'https')[]): World =>
  world.members((members) =>
    members.map((m, i) => ({ ...m, peerUrls: schemes.map((scheme) => peerUrl(world.cluster, i, scheme)) })),
  );

/** The manifests are applied; pods have the template of before. */
const apply = (world: World, spec: Partial<ClusterSpec>): World =>
  world.spec(spec).sts({ tlsSecrets: spec.tls ? mounted : {}, updateRevision: spec.tls ? 'tls' : 'r1' });

const plain = (size = 3): World =>
  allSpeak(new World(size), { peers: 'http', clients: 'http', hasCertificates: false }).sts({ tlsSecrets: {} });

function safe(size = 3): World {
  const world = new World(size, { tls: true }).sts({ tlsSecrets: mounted, updateRevision: 'tls' });
  world.pods((pods) => pods.map((one) => ({ ...one, revision: 'tls' })));
  return allSpeak(world, { peers: 'https', clients: 'https', hasCertificates: true });
}

/** What a gate of the present template and record starts. */
function started({ cluster, record }: World): Report {
  const { peers, clients } = record.transport!;
  const hasCertificates = cluster.spec.tls;
  return { peers, clients: hasCertificates || peers === 'https' ? clients : 'http', hasCertificates };
}

/** A pod is made again, and its member serves at once. */
function restarted(world: World, ordinal: number): void {
  const uid = `${uidOf(world, ordinal)}'`;
  const revision = world.cluster.spec.tls ? 'tls' : 'r1';
  world.pods((pods) => pods.map((one) => (one.ordinal === ordinal ? pod(ordinal, { uid, revision }) : one)));
  speaks(world, ordinal, started(world));
}

/** Carries out what is decided, and says it. */
function step(world: World): string | undefined {
  const { effect, rule } = world.plan();
  switch (effect?.kind) {
    case 'WriteRecord': {
      world.commit();
      const { peers, clients } = world.record.transport!;
      return rule?.startsWith('SwitchTransport') ? `${rule}: ${peers}, ${clients}` : '';
    }
    case 'MemberUpdate':
      world.members((members) =>
        members.map((m) => (m.id === effect.memberId ? { ...m, peerUrls: effect.peerUrls } : m)),
      );
      return `${effect.memberId}: ${effect.peerUrls.map((url) => url.split(':')[0]).join('+')}`;
    case 'MoveLeader':
      for (const id of Object.keys(world.o.status)) world.o.status[id] = known(status({ leader: effect.to }));
      return `${effect.to} leads`;
    case 'DeletePod':
      restarted(world, effect.ordinal);
      return `restart ${effect.ordinal}`;
    case 'HashKV':
      world.compared();
      return '';
    default:
      return effect?.kind;
  }
}

function run(world: World): string[] {
  const found: string[] = [];
  for (let n = 0; n < 100; n++) {
    const said = step(world);
    if (said === undefined) return found.filter((line) => line !== '');
    found.push(said);
  }
  throw new Error(`does not end: ${found.join('\n')}`);
}

const roll = ['restart 2', 'restart 1', 'id-1 leads', 'restart 0'];
const rollAgain = ['restart 2', 'restart 0', 'id-0 leads', 'restart 1'];
const updates = (to: string): string[] => [0, 1, 2].map((i) => `${idOf(i)}: ${to}`);

test('on: certificates, both URLs, TLS, https URLs; two rolls', () => {
  const world = apply(plain(), { ...on, acceptPlaintextFor: 0 });
  expect(run(world)).toEqual([
    'SwitchTransport: http, both',
    ...roll,
    ...updates('http+https'),
    'SwitchTransport.encrypt: https, https',
    ...rollAgain,
    ...updates('https'),
  ]);
  expect(world.record.transport).toEqual({ peers: 'https', clients: 'https', target: 'https' });
});

test('off: both URLs, http with certificates, http URLs; without certificates when that is applied', () => {
  const world = apply(safe(), disabling);
  expect(run(world)).toEqual([
    'SwitchTransport: https, https',
    ...updates('http+https'),
    'SwitchTransport.decrypt: http, both',
    ...roll,
    ...updates('http'),
  ]);
  expect(run(apply(world, off))).toEqual(['SwitchTransport.end: http, http', ...rollAgain]);
  expect(world.plan().conditions.find(({ type }) => type === 'Ready')?.status).toBe('True');
});

test('one member, both ways', () => {
  const world = apply(plain(1), { ...on, acceptPlaintextFor: 0 });
  expect(run(world)).toEqual([
    ...['SwitchTransport: http, both', 'restart 0', 'id-0: http+https'],
    ...['SwitchTransport.encrypt: https, https', 'restart 0', 'id-0: https'],
  ]);
  expect(run(apply(world, disabling))).toEqual([
    ...['SwitchTransport: https, https', 'id-0: http+https'],
    ...['SwitchTransport.decrypt: http, both', 'restart 0', 'id-0: http'],
  ]);
  expect(run(apply(world, off))).toEqual(['SwitchTransport.end: http, http', 'restart 0']);
});

describe('what the status says', () => {
  const said = (world: World): string => {
    const { status, reason, message } = world.plan().conditions.find(({ type }) => type === 'TransportReady')!;
    return `${status} ${reason}: ${message}`;
  };
  /** Each thing that is said on the way, once. */
  const allSaid = (world: World): string[] => {
    const found = [said(world)];
    while (step(world) !== undefined) found.push(said(world));
    return [...new Set(found)];
  };
  const counted = (from: number, how: string, what: string, open = '') =>
    [0, 1, 2]
      .slice(from)
      .map((n) => `False SwitchingTransport: TLS is being switched ${how}: ${n} of 3 members ${what}${open}`);
  const both = 'have peer URLs of both schemes';

  test('on: each step with its members, and when http ends', () => {
    const world = apply(plain(), on);
    const later = 'clients may use http and https for 24 h after step 2';
    const end = new Date(now + 24 * hour).toISOString();
    expect(allSaid(world)).toEqual([
      'False SwitchingTransport: TLS is being switched on: it begins',
      ...counted(0, 'on: step 1 of 4', 'have certificates, and accept http and https from clients', `; ${later}`),
      ...counted(0, 'on: step 2 of 4', both, `; ${later}`),
      `False PlaintextAccepted: ${later}`,
      `False PlaintextAccepted: clients may use http and https until ${end}, then https only; to end this now, set acceptPlaintextFor to zero`,
    ]);
    expect(world.plan().conditions.find(({ type }) => type === 'Ready')?.status).toBe('True');
    expect(allSaid(world.spec({ acceptPlaintextFor: 0 }))).toEqual([
      ...counted(0, 'on: step 3 of 4', 'use TLS', '; members that have not restarted still accept http'),
      ...counted(0, 'on: step 4 of 4', 'have no peer URL but that of https'),
      'True Tls: members and clients use TLS',
    ]);
    expect(said(world.agent(1, undefined))).toBe('True Tls: members and clients use TLS');
  });

  test('off: the same, and what ends http beside https', () => {
    const world = apply(safe(), disabling);
    const some = '; members that have restarted accept http and https from clients';
    expect(allSaid(world).slice(1)).toEqual([
      ...counted(0, 'off: step 1 of 4', both),
      ...counted(0, 'off: step 2 of 4', 'use http among themselves').slice(0, 1),
      ...counted(0, 'off: step 2 of 4', 'use http among themselves', some),
      ...counted(0, 'off: step 3 of 4', 'have no peer URL but that of http', some),
      'False PlaintextAccepted: clients may use http and https; when all use http, apply EtcdTls.none() without `from`, which takes the certificates away',
    ]);
    expect(allSaid(apply(world, off))).toEqual([
      ...counted(0, 'off: step 4 of 4', 'use http without certificates'),
      'True Plaintext: members and clients use http',
    ]);
  });

  test('that it is not followed, or not begun', () => {
    expect(said(apply(safe(), off))).toMatch(/^False TlsRefused: .*apply EtcdTls.none\({ previous: … }\) first/);
    expect(said(plain().spec(on))).toBe(
      'False SwitchingTransport: TLS is being switched on: it has not begun, because the StatefulSet’s template has no TLS, but spec.tls is set',
    );
    expect(plain().spec(on).reason('Progressing')).toBe('Idle');
    expect(apply(plain(), on).reason('Progressing')).toBe('RollingRestart');
    expect(said(plain().noQuorum())).toMatch(/^Unknown StateUnknown: /);
    const blind = withUrls(apply(safe(), disabling), 'http', 'https').noQuorum();
    expect(blind.doc({ transport: { ...encrypted, target: 'http' } }).reason('Progressing')).toBe('Idle');
  });
});

describe('taken back', () => {
  /** Every number of steps after which the old spec is applied, up to the end. */
  const lengths = Array.from({ length: 30 }, (_, n) => n);

  test.each(lengths)('on, after %i steps: everything ends as it was', (n) => {
    const world = apply(plain(), { ...on, acceptPlaintextFor: 0 });
    for (let i = 0; i < n; i++) step(world);
    run(apply(world, off));
    if (world.reason('Accepted') === 'TlsRefused') {
      run(apply(world, disabling));
      run(apply(world, off));
    }
    expect(world.record.transport).toMatchObject({ peers: 'http', clients: 'http', target: 'http' });
    expect(urls(world)).toEqual(['http', 'http', 'http']);
    expect(world.plan().conditions.find(({ type }) => type === 'Ready')?.status).toBe('True');
  });

  test.each(lengths)('off, after %i steps: everything ends as it was', (n) => {
    const world = apply(safe(), disabling);
    for (let i = 0; i < n; i++) step(world);
    run(apply(world, { ...on, acceptPlaintextFor: 0 }));
    expect(world.record.transport).toMatchObject({ peers: 'https', clients: 'https', target: 'https' });
    expect(urls(world)).toEqual(['https', 'https', 'https']);
    expect(world.plan().conditions.find(({ type }) => type === 'Ready')?.status).toBe('True');
  });
});

describe('the time for clients', () => {
  const ago = (ms: number): Transport => ({
    ...{ peers: 'http', clients: 'both', target: 'https' },
    since: new Date(now - ms).toISOString(),
  });
  const waiting = (ms: number, change: Partial<ClusterSpec> = {}) => {
    const world = apply(plain(), { ...on, ...change });
    world.pods((pods) => pods.map((one) => ({ ...one, revision: 'tls' })));
    return withUrls(allSpeak(world, { peers: 'http', clients: 'both', hasCertificates: true }), 'http', 'https').doc({
      transport: ago(ms),
    });
  };

  test('counts from the moment when every member accepts both schemes, and has both URLs', () => {
    const world = apply(plain(), { ...on, acceptPlaintextFor: hour });
    expect(run(world).at(-1)).toBe('SwitchTransport.open: http, both');
    expect(world.record.transport).toMatchObject({ since: new Date(now).toISOString() });
    for (const unready of [
      (ready: World) => speaks(ready, 1, { peers: 'http', clients: 'http', hasCertificates: true }),
      (ready: World) => withUrls(ready, 'http'),
    ]) {
      const { since: _, ...undated } = ago(0);
      expect(waiting(0).doc({ transport: undated }).rule).toBe('SwitchTransport.open');
      const early = unready(waiting(0).doc({ transport: undated }));
      expect(early.rule).not.toBe('SwitchTransport.open');
      expect(early.message('TransportReady')).toContain('for 24 h after step 2');
    }
  });

  test('is a day', () => {
    expect(waiting(24 * hour - 1).effect).toBeUndefined();
    expect(waiting(24 * hour).rule).toBe('SwitchTransport.encrypt');
  });

  test('or as long as the spec says', () => {
    expect(waiting(hour - 1, { acceptPlaintextFor: hour }).effect).toBeUndefined();
    expect(waiting(hour, { acceptPlaintextFor: hour }).rule).toBe('SwitchTransport.encrypt');
  });

  test('at most a year, whatever the spec says', () => {
    const end = new Date(now + 365 * 24 * hour).toISOString();
    for (const acceptPlaintextFor of [366 * 24 * hour, 1e17, Number.POSITIVE_INFINITY])
      expect(waiting(0, { acceptPlaintextFor }).message('TransportReady')).toContain(`until ${end}`);
  });

  test.each(['2099-01-01T00:00:00Z', 'yesterday', ''])('begins now if the record says since %j', (since) => {
    const world = waiting(0, { acceptPlaintextFor: hour }).doc({ transport: { ...ago(0), since } });
    expect(world.rule).toBe('SwitchTransport.open');
    expect(world.written?.transport).toEqual(ago(0));
    expect(world.commit().effect).toBeUndefined();
    expect(world.message('TransportReady')).toContain(new Date(now + hour).toISOString());
    expect(world.spec({ acceptPlaintextFor: 0 }).rule).toBe('SwitchTransport.encrypt');
  });

  test('is not shortened by a clock that was wrong for a while', () => {
    const world = waiting(0);
    const behind = new Date(now - 20 * hour).getTime();
    expect(world.set({ date: behind }).effect).toBeUndefined();
    expect(world.message('TransportReady')).toContain(`until ${new Date(now + 24 * hour).toISOString()}`);
    expect(world.set({ date: now + 23 * hour }).effect).toBeUndefined();
    expect(world.set({ date: now + 24 * hour }).rule).toBe('SwitchTransport.encrypt');
  });

  test('is read off the wall clock, whatever the clock said when the reconciler started', () => {
    const { since: _, ...undated } = ago(0);
    const world = waiting(0)
      .doc({ transport: undated })
      .set({ date: now + hour });
    expect(world.written?.transport?.since).toBe(new Date(now + hour).toISOString());
  });

  test('no longer, but not before every voter accepts either scheme, and has both URLs', () => {
    const begun = (report: Partial<Report>) =>
      speaks(waiting(24 * hour), 1, { peers: 'http', clients: 'both', hasCertificates: true, ...report });
    expect(waiting(24 * hour).down(1).effect).toBeUndefined();
    const upgrade = { current: '3.5', allowedMinors: ['3.5', '3.6'], bornOn: '3.5.35' };
    expect(waiting(24 * hour).doc({ versions: upgrade }).rule).not.toBe('SwitchTransport.encrypt');
    expect(begun({ clients: 'http' }).rule).toBe('RestartPod');
    expect(begun({ clients: 'http' }).pod(1, { deleting: true }).effect).toBeUndefined();
    expect(waiting(24 * hour).agent(1, undefined).effect).toBeUndefined();
    const single = waiting(24 * hour);
    single.members((members) => members.map((m, i) => (i === 1 ? { ...m, peerUrls: [m.peerUrls[0]!] } : m)));
    expect(single.effect).toMatchObject({ kind: 'MemberUpdate', memberId: idOf(1) });
  });
});

describe('peer URLs', () => {
  const both = (world: World) => withUrls(world, 'http', 'https');
  /** On the way to TLS, which every member has. */
  const trimming = () => both(safe());

  test('of a person’s own stay, unless they are of the scheme that goes', () => {
    const foreign = (world: World, url: string) =>
      world.members((members) => members.map((m, i) => (i === 1 ? { ...m, peerUrls: [...m.peerUrls, url] } : m)));
    for (const world of [plain(), safe()])
      for (const url of ['http://10.0.0.5:2380', 'https://10.0.0.5:2380'])
        expect(foreign(withUrls(world, world.cluster.spec.tls ? 'https' : 'http'), url).effect?.kind).toBe(
          url.startsWith(world.cluster.spec.tls ? 'https:' : 'http:') ? undefined : 'MemberUpdate',
        );
    const doubling = apply(plain(), on).doc({ transport: { ...plaintext, clients: 'both', target: 'https' } });
    doubling.pods((pods) => pods.map((one) => ({ ...one, revision: 'tls' })));
    allSpeak(doubling, { peers: 'http', clients: 'both', hasCertificates: true }).members(([first, ...others]) => [
      { ...first!, peerUrls: [...first!.peerUrls, 'http://10.0.0.5:2380'] },
      ...others,
    ]);
    expect(doubling.effect).toMatchObject({
      memberId: idOf(0),
      peerUrls: [peerUrl(doubling.cluster, 0, 'http'), peerUrl(doubling.cluster, 0, 'https'), 'http://10.0.0.5:2380'],
    });
    expect(foreign(trimming(), 'https://10.0.0.5:2380').effect).toMatchObject({ memberId: idOf(0) });
  });

  test('wait until all voters are healthy', () => {
    expect(trimming().effect).toMatchObject({ kind: 'MemberUpdate' });
    expect(trimming().down(1).effect).toBeUndefined();
  });

  test('are not cut while a voter speaks the other scheme, or while that is unknown', () => {
    const half = speaks(trimming(), 1, { peers: 'http', clients: 'both', hasCertificates: true });
    expect(half.written?.op).toMatchObject({ kind: 'DeletePod', ordinal: 1 });
    expect(trimming().agent(1, undefined).effect).toBeUndefined();
  });

  test('that a late call has cut under a member that no other can call: they return although it is not healthy', () => {
    const world = both(apply(safe(), disabling)).doc({
      transport: { ...encrypted, peers: 'http', clients: 'both', target: 'http' },
    });
    for (const i of [1, 2]) speaks(world, i, { peers: 'http', clients: 'both', hasCertificates: true });
    world.members((members) =>
      members.map((m, i) => (i === 2 ? { ...m, peerUrls: [peerUrl(world.cluster, 2, 'https')] } : m)),
    );
    expect(world.down(2).effect).toMatchObject({ kind: 'MemberUpdate', memberId: idOf(2) });
    const silent = world.o.agents[1];
    expect(world.agent(1, undefined).effect).toMatchObject({ kind: 'MemberUpdate', memberId: idOf(2) });
    world.o.agents[1] = silent!;
    expect(both(world).effect).toBeUndefined();
  });

  test('a member that joins gets both while another has both, and its permit names all', () => {
    const world = both(apply(plain(), { ...on, size: 4 }))
      .sts({ replicas: 4 })
      .joiner(3);
    world.pods((pods) => pods.map((one) => ({ ...one, revision: 'tls' })));
    for (const i of [0, 1, 2]) speaks(world, i, { peers: 'http', clients: 'both', hasCertificates: true });
    world.doc({ transport: { ...plaintext, clients: 'both', target: 'https', since: new Date(now).toISOString() } });
    const pair = [peerUrl(world.cluster, 3, 'http'), peerUrl(world.cluster, 3, 'https')];
    expect(world.spec({ allowEvenSize: true }).commit().effect).toEqual({
      ...{ kind: 'MemberAdd', ordinal: 3, peerUrls: pair },
    });
    const joined = world.learner(3, { id: 'id-3', peerUrls: pair });
    const { initialCluster } = joined.written!.permits[3]!;
    expect(initialCluster.split(',')).toEqual(
      [0, 1, 2, 3].flatMap((i) => [
        `c-${i}=${peerUrl(world.cluster, i, 'http')}`,
        `c-${i}=${peerUrl(world.cluster, i, 'https')}`,
      ]),
    );
  });

  // etcd before 3.5.31 and 3.6.12 then lists it as a voter, while raft still has a learner.
  test('of a learner stay until it votes; those of voters change, and peers wait for it', () => {
    const world = withUrls(apply(plain(), { ...on, size: 5, acceptPlaintextFor: 0 }), 'http', 'https');
    world.pods((pods) =>
      [...pods, pod(3, { revision: 'tls', ready: false })].map((one) => ({ ...one, revision: 'tls' })),
    );
    for (const i of [0, 1, 2]) speaks(world, i, { peers: 'http', clients: 'both', hasCertificates: true });
    world.doc({ transport: { ...plaintext, clients: 'both', target: 'https' } });
    world.learner(3).sts({ replicas: 4 }).agent(3, undefined);
    expect(world.effect).toBeUndefined();
    expect(world.message('TransportReady')).toContain(
      'step 2 of 4: member id-3 (c-3), a learner, has to become a voter first',
    );
    world.members((members) => members.map((m, i) => (i === 1 ? { ...m, peerUrls: m.peerUrls.slice(0, 1) } : m)));
    expect(world.effect).toMatchObject({ kind: 'MemberUpdate', memberId: idOf(1) });
    const promoted = withUrls(world, 'http', 'https').members((members) =>
      members.map((m) => ({ ...m, isLearner: false })),
    );
    expect(promoted.members((members) => members.slice(0, 3)).rule).toBe('SwitchTransport.encrypt');
  });

  test('else the one of the scheme that the peers speak', () => {
    const joins = (world: World) => {
      world
        .removed(2)
        .joiner(2)
        .pod(2, { revision: world.cluster.spec.tls ? 'tls' : 'r1' });
      // The member that is gone, then the intent.
      return world.commit().commit().effect;
    };
    expect(joins(safe())).toMatchObject({ peerUrls: ['https://c-2.c-peers.n.svc.cluster.local:2380'] });
    expect(joins(plain())).toMatchObject({ peerUrls: ['http://c-2.c-peers.n.svc.cluster.local:2380'] });
    const early = apply(plain(), on);
    early.doc({ transport: { ...plaintext, clients: 'both', target: 'https' } });
    expect(joins(early)).toMatchObject({ peerUrls: ['http://c-2.c-peers.n.svc.cluster.local:2380'] });
  });
});

describe('refused', () => {
  const users = (report: Partial<AuthReport>) => {
    const world = safe();
    const authentication: AuthReport = {
      ...{ isWanted: false, removed: 0, seen: { isEnabled: false, hasUsers: false, age: 0 } },
      ...report,
    };
    return apply(world.resource({ authentication }), disabling).resource({ spec: world.cluster.spec, authentication });
  };

  test('off, while there are users; and not begun while that is unknown', () => {
    expect(users({}).rule).toBe('SwitchTransport');
    for (const report of [{ isWanted: true }, { seen: { isEnabled: true, hasUsers: true, age: 0 } }]) {
      expect(users(report).effect).toBeUndefined();
      expect(users(report).reason('Accepted')).toBe('TlsRefused');
      expect(users(report).message('Accepted')).toContain('while authentication is on');
    }
    const unseen = users({ seen: { isEnabled: false, hasUsers: false, age: 24 * hour } });
    expect(unseen.effect).toBeUndefined();
    expect(unseen.reason('Accepted')).toBe('SpecAccepted');
    expect(unseen.message('TransportReady')).toContain('it is not known yet whether etcd has users');
    const half = users({ isWanted: true }).doc({ transport: { ...encrypted, target: 'http' } });
    expect(withUrls(half, 'http', 'https').effect).toBeUndefined();
  });

  test('the certificates go while the members use them', () => {
    const dropped = apply(safe(), off);
    expect(dropped.effect).toBeUndefined();
    expect(dropped.reason('Accepted')).toBe('TlsRefused');
    expect(dropped.message('Accepted')).toContain('apply EtcdTls.none({ previous: … }) first');
    const half = withUrls(apply(safe(), off), 'http', 'https').doc({ transport: { ...plaintext, clients: 'both' } });
    expect(half.reason('Accepted')).toBe('TlsRefused');
    expect(half.effect).toBeUndefined();
  });

  test('the certificates go while one member may use them, as its agent does not answer', () => {
    const rolled = allSpeak(apply(safe(), off), { peers: 'http', clients: 'both', hasCertificates: true });
    const world = withUrls(rolled, 'http', 'https').doc({ transport: { ...plaintext, clients: 'both', hadTls: true } });
    expect(world.rule).toBe('SwitchTransport.end');
    world.agent(1, undefined);
    expect(world.effect).toBeUndefined();
    expect(world.reason('Accepted')).toBe('TlsRefused');
    expect(withUrls(world, 'http').reason('Accepted')).not.toBe('TlsRefused');
    expect(withUrls(world, 'http', 'https').noQuorum().reason('Accepted')).toBe('TlsRefused');
  });

  describe('not, while no member has used TLS yet', () => {
    /** The pod of this ordinal does not start, because its Secrets are missing. */
    const stuck = (world: World, ordinal: number) => {
      world.down(ordinal).agent(ordinal, undefined).o.since.silent = { [ordinal]: longAgo };
      return world.pod(ordinal, { revision: 'tls', began: false, running: false, ready: false });
    };
    const switching = (size: number) =>
      apply(plain(size), on).doc({ transport: { ...plaintext, clients: 'both', target: 'https' } });

    test('one member', () => {
      const world = apply(stuck(switching(1), 0).noQuorum(), off);
      expect(world.reason('Accepted')).toBe('SpecAccepted');
      expect(world.effect).toMatchObject({ kind: 'DeletePod', ordinal: 0 });
    });

    test('three members, which have both URLs', () => {
      const world = withUrls(
        allSpeak(switching(3), { peers: 'http', clients: 'both', hasCertificates: true }),
        'http',
        'https',
      );
      apply(stuck(world, 2), off);
      expect(world.reason('Accepted')).toBe('SpecAccepted');
      expect(world.effect).toMatchObject({ kind: 'DeletePod', ordinal: 2 });
    });

    test('it is remembered from the first use until no member has an https URL', () => {
      const world = apply(safe(), disabling);
      while (world.record.transport?.peers === 'https') step(world);
      expect(world.record.transport).toMatchObject({ peers: 'http', hadTls: true });
      run(world);
      step(apply(world, on));
      expect(world.record.transport).toMatchObject({ target: 'https', peers: 'http' });
      expect(world.record.transport).not.toHaveProperty('hadTls');
    });
  });

  test('the certificates go while they guard the snapshot of a restore', () => {
    const op = (sourceToken: string) => ({
      ...{ id: 'o', holder: '', startedAt: '', kind: 'Restore' as const, step: 'verify' as const },
      args: {
        ...{ id: 'r', uid: 'r', specHash: '', sourceToken },
        ...{ safetyBackup: false, ignoreUnreachablePods: false },
      },
    });
    const world = apply(plain(), off);
    expect(world.op(op('secret')).reason('Accepted')).toBe('SpecAccepted');
    expect(world.op(op('')).reason('Accepted')).toBe('TlsRefused');
  });

  test('etcd 3.4', () => {
    const world = apply(plain(), { ...on, version: '3.4.37' }).doc({
      versions: { current: '3.4', allowedMinors: ['3.4'] },
    });
    expect(world.message('Accepted')).toContain('upgrade to 3.5 first');
    expect(world.rule).not.toBe('SwitchTransport');
  });

  test('the end of off, while there are users; and not taken while that is unknown', () => {
    const ending = (authentication: AuthReport) => {
      const world = withUrls(apply(safe(), off), 'http').doc({ transport: { ...plaintext, clients: 'both' } });
      return allSpeak(world, { peers: 'http', clients: 'both', hasCertificates: true }).resource({ authentication });
    };
    const seen = { isEnabled: false, hasUsers: false, age: 0 };
    expect(ending({ isWanted: false, removed: 0, seen }).rule).toBe('SwitchTransport.end');
    for (const world of [
      ending({ isWanted: true, removed: 0, seen }),
      ending({ isWanted: false, removed: 0, seen: { ...seen, isEnabled: true } }),
    ]) {
      expect(world.rule).not.toBe('SwitchTransport.end');
      expect(world.reason('TransportReady')).toBe('TlsRefused');
    }
    expect(ending({ isWanted: false, removed: 0 }).rule).not.toBe('SwitchTransport.end');
  });

  test.each(['peer', 'server'] as const)('the template has only the %s certificate', (only) => {
    const world = plain()
      .spec(on)
      .sts({ tlsSecrets: { [only]: only } });
    expect(world.effect).toBeUndefined();
    expect(world.reason('Accepted')).toBe('TemplateMismatch');
    expect(world.message('Accepted')).toContain(`mounts no ${only === 'peer' ? 'server' : 'peer'} certificate`);
  });

  test('begins only when the certificates are there', () => {
    const tlsSecrets = { peer: 'peer', server: 'server' };
    const certificates = (...secrets: string[]) => {
      const world = apply(plain(1), { ...on, tlsSecrets });
      const found = secrets.map((secret) => ({ secret, notAfter: '', span: { notBefore: 0, notAfter: 0 } }));
      const report = { now, secrets, certificates: found, authorities: [], unread: [], problems: [] };
      return world.resource({ spec: world.cluster.spec, certificates: report });
    };
    expect(certificates('peer', 'server').rule).toBe('SwitchTransport');
    expect(certificates('peer').effect).toBeUndefined();
    expect(certificates('server').message('TransportReady')).toContain(
      'it has not begun, because the Secret peer has no certificate',
    );
  });

  test('begins only with certificates that will be renewed', () => {
    const world = apply(plain(1), { ...on, tlsSecrets: { peer: 'peer', server: 'server' } });
    const found = ['peer', 'server'].map((secret) => ({ secret, notAfter: '', span: { notBefore: 0, notAfter: 0 } }));
    const problem = { reason: 'AuthorityLost' as const, message: 'the Secret of the authority is empty' };
    const report = { now, secrets: ['peer', 'server'], certificates: found, authorities: [], unread: [] };
    world.resource({ spec: world.cluster.spec, certificates: { ...report, problems: [problem] } });
    expect(world.effect).toBeUndefined();
    expect(world.message('TransportReady')).toContain(`it has not begun, because ${problem.message}`);
  });

  test('a cluster that uses TLS restarts its members although a Secret cannot be read', () => {
    const spec = { ...on, tlsSecrets: { peer: 'peer', server: 'server' } };
    const unread = ['peer', 'server'].map((secret) => ({ secret, why: 'status 403' }));
    const report = { now, secrets: ['peer', 'server'], certificates: [], authorities: [], unread, problems: [] };
    const world = apply(safe(), spec).sts({ tlsSecrets: mounted, updateRevision: 'newer' });
    world.resource({ spec: world.cluster.spec, certificates: report });
    expect(world.rule).toBe('RestartPod');
  });

  test('the template has no certificates yet', () => {
    const world = plain().spec(on);
    expect(world.effect).toBeUndefined();
    expect(world.reason('Accepted')).toBe('TemplateMismatch');
  });
});

describe('a record that does not say how members speak', () => {
  test('of etcd 3.4, which cannot serve both schemes: http', () => {
    const world = apply(plain(), on).doc({
      transport: undefined,
      versions: { current: '3.4', allowedMinors: ['3.4'] },
    });
    expect(world.written?.transport).toEqual(plaintext);
  });

  test('rebuilt: a member with an https URL may still use it', () => {
    const rebuilt = (world: World) => world.set({ record: known(undefined) }).written?.transport;
    expect(rebuilt(withUrls(apply(plain(), disabling), 'http', 'https'))).toMatchObject({
      peers: 'http',
      hadTls: true,
    });
    expect(rebuilt(plain())).toMatchObject({ hadTls: undefined });
  });

  test('of an older release: as their URLs say', () => {
    expect(plain().doc({ transport: undefined }).written?.transport).toMatchObject(rest(plaintext));
    expect(safe().doc({ transport: undefined }).written?.transport).toMatchObject(rest(encrypted));
    const late = apply(plain(), on).doc({ transport: undefined });
    expect(late.written?.transport).toMatchObject({ peers: 'http', clients: 'both', target: 'http' });
    expect(run(late.spec({ acceptPlaintextFor: 0 })).slice(0, 3)).toEqual([
      ...['SwitchTransport.note: http, both', 'SwitchTransport: http, both', 'restart 2'],
    ]);
  });

  test('it is written before all holds, as the agents report if the members are not known', () => {
    const blind = (world: World) => world.noQuorum().doc({ transport: undefined });
    expect(blind(apply(safe(), off)).written?.transport).toMatchObject(rest(encrypted));
    expect(blind(apply(plain(), on)).written?.transport).toMatchObject({ peers: 'http', target: 'http' });
    expect(blind(new World(3)).rule).not.toBe('SwitchTransport.note');
    expect(blind(speaks(plain(), 1, { peers: 'https', clients: 'https', hasCertificates: true })).rule).not.toBe(
      'SwitchTransport.note',
    );
  });

  const rest = ({ since: _, ...others }: Transport) => others;

  test.each<[string, ('http' | 'https')[][], ('http' | 'https')[], Partial<ClusterSpec>, string]>([
    ['http', [['http'], ['http'], ['http']], [], off, 'http'],
    ['some have both, on', [['http', 'https'], ['http'], ['http']], [], on, 'http'],
    ['some have both, off', [['http', 'https'], ['https'], ['https']], [], disabling, 'https'],
    [
      'all have both',
      [
        ['http', 'https'],
        ['http', 'https'],
        ['http', 'https'],
      ],
      ['http', 'http', 'http'],
      on,
      'http',
    ],
    ['all have both, rolled half-way', Array(3).fill(['http', 'https']), ['http', 'https', 'http'], on, 'https'],
    [
      'all have both, rolled back half-way',
      Array(3).fill(['http', 'https']),
      ['http', 'https', 'http'],
      disabling,
      'http',
    ],
  ])('rebuilt: %s', (_, schemes, peers, spec, wanted) => {
    const world = apply(plain(), spec);
    world.members((members) =>
      members.map((m, i) => ({ ...m, peerUrls: schemes[i]!.map((scheme) => peerUrl(world.cluster, i, scheme)) })),
    );
    for (const [i, scheme] of peers.entries())
      speaks(world, i, { peers: scheme, clients: 'both', hasCertificates: true });
    world.set({ record: known(undefined) });
    expect(world.written?.transport?.peers).toBe(wanted);
    expect(world.written?.transport?.target).toBe(wanted);
  });
});

describe('a seed', () => {
  const unborn = (spec: Partial<ClusterSpec>) => {
    const world = apply(new World(3), spec);
    world.doc({ epoch: 0, seeded: false, phase: 'Seeding', clusterId: undefined, members: {} });
    world.agent(0, asking(0, 'new-0', { volume: { ...asking(0).volume, volumeId: 'new-0' } }));
    return world.set({ members: known([]) });
  };

  test('begins as the spec says now, whatever it said before', () => {
    const { written } = unborn(on);
    expect(written?.transport).toMatchObject({ peers: 'https', clients: 'https', target: 'https' });
    expect(written?.permits[0]?.initialCluster).toMatch(/^c-0=https:/);
    const plainly = unborn(off).doc({ transport: encrypted });
    expect(plainly.written?.permits[0]?.initialCluster).toMatch(/^c-0=http:/);
    expect(plainly.written?.transport).toMatchObject({ peers: 'http', clients: 'http', target: 'http' });
  });
});

test('a seed that is born from a backup, whose pod is older than the certificates, is made again before its permit', () => {
  const serving = { url: 'https://10.0.0.1', sha256: 'sha', sizeBytes: 1, revision: 5 };
  const args = {
    ...{ id: 'origin:uid-1', uid: 'cr-1', specHash: '', source: {}, sourceToken: '', lastRevision: 0 },
    ...{ safetyBackup: false, ignoreUnreachablePods: false, verified: { sha256: 'sha', sizeBytes: 1, revision: 5 } },
  };
  const world = apply(new World(1), on).joiner(0);
  world.doc({ seeded: false, phase: 'Restoring', clusterId: undefined, members: {} });
  world.op({ id: 'o', holder: '', startedAt: '', kind: 'Restore', step: 'seed', args });
  world.set({
    members: known([]),
    jobs: known([{ kind: 'restore', uid: 'j', op: 'o', state: 'Running', deleting: false, serving }]),
  });
  expect(world.rule).toBe('SeedPod.again');
  expect(world.pod(0, { deleting: true }).effect).toBeUndefined();
  world.pod(0, { revision: 'tls', deleting: false });
  expect(world.written?.permits[0]?.initialCluster).toMatch(/^c-0=https:/);
  expect(world.written?.transport).toMatchObject({ peers: 'https', clients: 'https', target: 'https' });
});

test('a seed that is permitted with TLS, and is to have none after all, begins without', () => {
  const world = apply(new World(3, { tls: true }), off);
  const permit = { id: 'p', ordinal: 0, volumeId: 'new-0', epoch: 1, mode: 'new' as const, token: 't', issuedAt: '' };
  world.doc({ seeded: false, phase: 'Seeding', clusterId: undefined, members: {} });
  world.doc({ permits: { 0: { ...permit, initialCluster: 'c-0=https://c-0.c-peers.n.svc.cluster.local:2380' } } });
  world.set({ members: unknown('nobody'), status: {} });
  world.agent(0, asking(0, 'new-0', { state: 'Refused', reason: 'VersionRefused' }));
  expect(world.rule).not.toBe('SeedTransport');
  world.agent(0, asking(0, 'new-0', { state: 'Refused', reason: 'ConfigRefused' }));
  expect(world.rule).toBe('SeedTransport');
  expect(world.written?.transport).toEqual(plaintext);
  expect(world.written?.permits[0]).toEqual({
    ...permit,
    initialCluster: 'c-0=http://c-0.c-peers.n.svc.cluster.local:2380',
  });
  expect(world.commit().rule).not.toBe('SeedTransport');
});

test('members that do not serve, or an upgrade: a switch does not begin, but can be taken back', () => {
  const upgrade = { current: '3.5', allowedMinors: ['3.5', '3.6'], bornOn: '3.5.35' };
  expect(apply(plain(), on).rule).toBe('SwitchTransport');
  expect(apply(plain(), on).down(2).rule).not.toBe('SwitchTransport');
  expect(apply(plain(), on).doc({ versions: upgrade }).rule).not.toBe('SwitchTransport');
  const both = { ...encrypted, target: 'http' as const };
  const decrypting = () => withUrls(apply(safe(), disabling), 'http', 'https').doc({ transport: both });
  expect(decrypting().rule).toBe('SwitchTransport.decrypt');
  expect(decrypting().down(2).effect).toBeUndefined();
  expect(decrypting().doc({ versions: upgrade }).rule).not.toBe('SwitchTransport.decrypt');
  // The first member that was restarted with TLS does not serve.
  const broken = withUrls(apply(safe(), disabling), 'http', 'https').down(2);
  for (const i of [0, 1]) speaks(broken, i, { peers: 'http', clients: 'both', hasCertificates: true });
  expect(run(broken).slice(0, 3)).toEqual([
    'SwitchTransport: https, https',
    'SwitchTransport.decrypt: http, both',
    'restart 2',
  ]);
});

test('what keeps a switch from beginning is said', () => {
  const why = (change: (world: World) => World) => {
    const world = change(apply(plain(), on));
    expect(world.rule).not.toBe('SwitchTransport');
    return world.message('TransportReady');
  };
  const upgrade = { current: '3.5', allowedMinors: ['3.5', '3.6'], bornOn: '3.5.35' };
  expect(why((world) => world.down(2))).toContain('it has not begun, because not every member is healthy');
  expect(why((world) => world.doc({ versions: upgrade }))).toContain(
    'it has not begun, because an upgrade is half done',
  );
  const refused = why((world) => world.spec({ version: '3.8.1' }).sts({ version: '3.8.1' }));
  expect(refused).toContain('it has not begun, because version 3.8.1 of the template may not run');
  expect(why((world) => world.op({ ...{ id: 'o', holder: '', startedAt: '' }, kind: 'Upgrade', to: '3.7' }))).toContain(
    'it has not begun, because an operation is in flight',
  );
  expect(why((world) => world.spec({ paused: true }))).toContain('it has not begun, because spec.paused is true');
});

test('who may use http is said beside every step', () => {
  const until = /; clients may use http and https until 2026-/;
  const open = { ...plaintext, clients: 'both', target: 'https', since: new Date(now).toISOString() } as const;
  const world = withUrls(apply(plain(), on), 'http', 'https').doc({ transport: open });
  allSpeak(world, { peers: 'http', clients: 'both', hasCertificates: true }).agent(2, undefined);
  expect(world.message('TransportReady')).toMatch(
    /step 1 of 4: 2 of 3 members .*; clients may use http and https until 2026-/,
  );
  const rolling = withUrls(safe(), 'http', 'https');
  speaks(rolling, 1, { peers: 'http', clients: 'both', hasCertificates: true });
  expect(rolling.message('TransportReady')).toMatch(
    /step 3 of 4: 2 of 3 .*; members that have not restarted still accept http$/,
  );
  const back = withUrls(apply(safe(), disabling), 'http', 'https').doc({
    transport: { ...plaintext, clients: 'both', target: 'http' },
  });
  expect(back.message('TransportReady')).toMatch(
    /step 2 of 4: 0 of 3 .*; members that have restarted accept http and https from clients$/,
  );
  expect(back.message('TransportReady')).not.toMatch(until);
});

test('switching TLS off is progress in every step', () => {
  const world = withUrls(apply(safe(), disabling), 'http', 'https');
  world.doc({ transport: { ...plaintext, clients: 'both' } });
  allSpeak(world, { peers: 'http', clients: 'both', hasCertificates: true });
  world.resource({ spec: world.cluster.spec, authentication: { isWanted: false, removed: 0 } });
  expect(world.effect).toMatchObject({ kind: 'MemberUpdate' });
  expect(world.reason('Progressing')).toBe('SwitchingTransport');
});

// A pod that comes back from a template without certificates waits for them, and nothing else makes it anew.
test.each(['monday', 'origin:cr-1'])(
  'the seed of restore %s, made without certificates, is made again with them',
  (id) => {
    const args = {
      ...{ id, uid: 'cr-1', specHash: '', source: {}, sourceToken: '', lastRevision: 0 },
      ...{ safetyBackup: false, ignoreUnreachablePods: false, verified: { sha256: 'sha', sizeBytes: 1, revision: 5 } },
    };
    const volume = { volumeId: 'new-0', walPresent: false, freeBytes: 1, totalBytes: 1, quarantineCount: 0 };
    const restoring = (spec: Partial<ClusterSpec>) => {
      const world = apply(new World(1, { tls: true }), spec).joiner(0);
      world.doc({ seeded: false, phase: 'Restoring', clusterId: undefined, members: {} });
      world.op({ id: 'o', holder: '', startedAt: '', kind: 'Restore', step: 'restore', args });
      world.set({ members: unknown('nobody'), status: {} });
      return world.agent(0, asking(0, 'new-0', { state: 'Refused', reason: 'ConfigRefused', volume }));
    };
    for (const spec of [on, disabling]) {
      expect(restoring(spec).rule).toBe('SeedPod.certificates');
      expect(restoring(spec).pod(0, { deleting: true }).rule).not.toBe('SeedPod.certificates');
      expect(restoring(spec).pod(0, { revision: 'tls' }).rule).not.toBe('SeedPod.certificates');
      expect(
        restoring(spec).agent(0, asking(0, 'new-0', { state: 'Refused', reason: 'VersionRefused', volume })).rule,
      ).not.toBe('SeedPod.certificates');
      const withData = asking(0, 'new-0', {
        state: 'Refused',
        reason: 'ConfigRefused',
        volume: { ...volume, walPresent: true },
      });
      // A gate that refuses runs no etcd, so the data of a volume that lasts stay.
      expect(restoring(spec).agent(0, withData).rule).toBe('SeedPod.certificates');
      expect(restoring({ ...spec, ephemeral: true }).agent(0, withData).rule).not.toBe('SeedPod.certificates');
    }
    expect(restoring(off).effect?.kind).not.toBe('DeletePod');
  },
);

test('a learner that accepts http is named until it is restarted', () => {
  const world = safe().learner(3, { name: 'c-3', peerUrls: [peerUrl(safe().cluster, 3, 'https')] });
  world.pods((pods) => [...pods, pod(3, { revision: 'tls', ready: false })]);
  world.agent(3, agent(3, { transport: { peers: 'http', clients: 'both', hasCertificates: true } }));
  expect(world.reason('TransportReady')).toBe('SwitchingTransport');
  expect(world.message('TransportReady')).toContain('member id-3 (c-3), a learner, has yet to be restarted');
  world.agent(3, agent(3, { transport: { peers: 'https', clients: 'https', hasCertificates: true } }));
  expect(world.reason('TransportReady')).toBe('Tls');
});

test('a pod whose gate waits is not restarted for what it would start', () => {
  const world = plain()
    .doc({ transport: { ...plaintext, clients: 'both' } })
    .sts({ tlsSecrets: {} });
  world.agent(1, agent(1, { gate: true, transport: { peers: 'https', clients: 'https', hasCertificates: true } }));
  expect(world.rule).not.toBe('RestartPod');
});
