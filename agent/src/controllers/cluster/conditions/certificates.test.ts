import type { TrustedRoot } from '../../../protocol/agent-status.ts';
import { known, unknown } from '../../../protocol/known.ts';
import { agent, now, World } from '../../port/observed.fixture.ts';
import type { CertificateReport, SeenCertificate } from '../../port/observed.ts';
import { defaultSettings } from '../../port/settings.ts';
import { clusterStatus } from './status.ts';

// The condition and the list of certificates show only observations, and no outdated ones.

const day = 86_400_000;
const old = defaultSettings.certificatesOld;
const secrets = ['peer-ca', 'peer-tls'];
const at = (ms: number) => new Date(ms).toISOString();

const seen = (secret: string, change: Partial<SeenCertificate['span']> = {}): SeenCertificate => {
  const span = { notBefore: now - day, notAfter: now + day, ...change };
  return { secret, notAfter: at(span.notAfter), renewAt: at(now), root: 'abcd', span };
};

const good: CertificateReport = {
  ...{ now, secrets, authorities: [], unread: [], problems: [], goodAge: 0, looked: { at: now, age: 0 } },
  certificates: secrets.map((secret) => seen(secret)),
};
const { goodAge: _, looked: __, ...nothing } = good;
const unread = secrets.map((secret) => ({ secret, why: 'no answer' }));
/** Before the first pass. */
const never: CertificateReport = { ...nothing, certificates: [], unread };

const world = (change: Partial<CertificateReport> | undefined, status: object = {}): World => {
  const made = new World(3);
  return made.resource({
    ...(change && { certificates: { ...good, ...change } }),
    status: { ...made.cluster.status, ...status },
  });
};
const conditionOf = (made: World) => made.plan().conditions.find(({ type }) => type === 'CertificatesReady');
const said = (made: World) => {
  const found = conditionOf(made);
  return found && `${found.status} ${found.reason}: ${found.message}`;
};
const statusOf = (made: World) => clusterStatus(made.o, made.plan().conditions, now, defaultSettings)!;
const problem = (reason: CertificateReport['problems'][number]['reason'], message: string) => ({ reason, message });

test('there is none if another program writes the certificates and the members have loaded them', () => {
  expect(conditionOf(world(undefined))).toBeUndefined();
  expect(statusOf(world(undefined)).certificates).toBeUndefined();
});

test('True only after everything was read, and lately', () => {
  expect(said(world({}))).toBe(
    'True CertificatesValid: every certificate of the cluster is valid, and is renewed in time',
  );
  expect(conditionOf(world({ goodAge: old }))?.status).toBe('True');
  const stuck = world({ goodAge: old + 1, looked: { at: now - old - 1, age: old + 1 } });
  expect(said(stuck)).toBe(
    'Unknown StateUnknown: the Secrets of the certificates were last read at 2025-12-31T23:44:59Z',
  );
});

test('Unknown before the first pass, and while nothing can be read', () => {
  expect(said(world({ ...never, goodAge: undefined, looked: undefined }))).toBe(
    'Unknown StateUnknown: the Secrets of the certificates were not read yet',
  );
  const blind = { certificates: [], unread };
  expect(said(world({ ...blind, goodAge: undefined }))).toBe(
    'Unknown StateUnknown: Secret peer-ca cannot be read: no answer; Secret peer-tls cannot be read: no answer',
  );
  // Recent content still counts.
  expect(conditionOf(world({ ...blind, goodAge: old }))?.status).toBe('True');
  expect(conditionOf(world({ ...blind, goodAge: old + 1 }))?.status).toBe('Unknown');
});

test('False with the most urgent reason, and with all the words', () => {
  const problems = [
    problem('Issuing', 'b is empty'),
    problem('AuthorityLost', 'a is lost'),
    problem('Issuing', 'b is empty'),
  ];
  expect(said(world({ problems }))).toBe('False AuthorityLost: a is lost; b is empty');
  // Even if the last pass did not read everything, but not when it is old.
  const partly = { problems, unread: unread.slice(1) };
  expect(conditionOf(world({ ...partly, goodAge: undefined }))?.status).toBe('False');
  expect(conditionOf(world({ ...partly, looked: { at: 0, age: old + 1 } }))?.status).toBe('Unknown');
});

describe('an end that has come', () => {
  const expired = { notAfter: now - 1 };

  test('is said whatever else is, or is not, known', () => {
    const ends = world({ certificates: [seen('peer-ca'), seen('peer-tls', expired)] });
    expect(said(ends)).toBe(`False Expired: the certificate in Secret peer-tls expired at ${at(now - 1)}`);
    const both = world({ certificates: [seen('peer-tls', expired)], problems: [problem('CannotWrite', 'no room')] });
    expect(said(both)).toMatch(/^False Expired: /);
  });

  test('comes also while nothing is read: of what was seen last', () => {
    const certificates = [{ secret: 'peer-tls', notAfter: at(now - 1) }];
    for (const change of [never, { ...never, looked: { at: 0, age: old + 1 } }])
      expect(conditionOf(world({ ...change, goodAge: undefined }, { certificates }))?.reason).toBe('Expired');
  });

  test('of a Secret that is now empty is over', () => {
    const certificates = [{ secret: 'peer-tls', notAfter: at(now - 1) }];
    const made = world({ certificates: [seen('peer-ca')], problems: [problem('Issuing', 'x')] }, { certificates });
    expect(conditionOf(made)?.reason).toBe('Issuing');
  });
});

test('a certificate of the future shows that a clock differs', () => {
  const made = world({ certificates: [seen('peer-ca', { notBefore: now + 1 })] });
  expect(said(made)).toMatch(/^False NotYetValid: the certificate in Secret peer-ca is valid from \S+ on: a clock/);
});

describe('a member that trusts another root than its files hold', () => {
  const roots = (peer: TrustedRoot, client: TrustedRoot = { onDisk: 'c', loaded: 'c' }) =>
    world({}).agent(1, agent(1, { roots: { peer, client } }));

  test('must be restarted, which is reported before problems of the Secrets', () => {
    const made = roots({ onDisk: 'b', loaded: 'a' });
    const message = 'member c-1 still trusts the root a for other members, but its ca.crt holds b; restart it';
    expect(said(made)).toMatch(new RegExp(`^False RootNotLoaded: ${message}; it is not known which root member c-0`));
    const stale = { onDisk: 'b', loaded: 'a' };
    expect(said(roots({ onDisk: 'a', loaded: 'a' }, stale))).toContain('the root a for clients, but');
    const all = roots(stale).resource({ certificates: { ...good, problems: [problem('CannotWrite', 'no room')] } });
    expect(said(all)).toMatch(/^False RootNotLoaded: /);
    expect(statusOf(made)).toMatchObject({ phase: 'Ready', reason: 'RootNotLoaded' });
  });

  test('must be restarted as well if another program writes the certificates', () => {
    const made = world(undefined).agent(1, agent(1, { roots: { peer: { onDisk: 'b', loaded: 'a' } } }));
    expect(said(made)).toMatch(/^False RootNotLoaded: member c-1 still trusts the root a for other members/);
    expect(statusOf(made).certificates).toBeUndefined();
  });

  test('is restarted when the step of a replaced root requires it', () => {
    const made = roots({ onDisk: 'b', loaded: 'a' });
    made.resource({ certificates: { ...good, problems: [problem('RotatingRoot', 'wait')] } });
    expect(said(made)).toBe('False RotatingRoot: wait');
  });

  test('is what both are known to be, and differ', () => {
    for (const root of [{ onDisk: 'a', loaded: 'a' }, { onDisk: 'a' }, { loaded: 'a' }, {}])
      expect(conditionOf(roots(root))?.status).toBe('True');
    expect(conditionOf(roots({ onDisk: 'b', loaded: 'a' }).agent(1, undefined))?.status).toBe('True');
  });

  describe('after an authority was replaced', () => {
    const tlsSecrets = { peer: 'peer-tls', server: 'server-tls' };
    const replaced = (loaded: (TrustedRoot | undefined)[], last?: string): World => {
      const made = new World(3);
      const certificates = { ...good, certificates: [{ ...seen('server-tls'), root: 'new' }] };
      const conditions = last ? [{ type: 'CertificatesReady', status: 'False', reason: last, message: '' }] : [];
      const { spec, status } = made.cluster;
      made.resource({
        certificates,
        spec: { ...spec, tls: true, tlsSecrets },
        status: { ...status, conditions } as typeof status,
      });
      for (const [i, client] of loaded.entries())
        made.agent(i, client && agent(i, { roots: { peer: { onDisk: 'p', loaded: 'p' }, client } }));
      return made;
    };
    const old = { onDisk: 'old', loaded: 'old' };

    test('every member that has not loaded its root is named, also before its files are there', () => {
      const found = said(replaced([{ onDisk: 'new', loaded: 'old' }, old, { onDisk: 'new', loaded: 'new' }]));
      expect(found).toBe(
        'False RootNotLoaded: member c-0 still trusts the root old for clients, but its ca.crt holds new; restart it; member c-1 still trusts the root old for clients, but Secret server-tls holds new; restart it',
      );
      expect(said(replaced([old, undefined, {}]))).toMatch(
        /^False RootNotLoaded: member c-0 .*; it is not known which root member c-1 trusts.*; it is not known which root member c-2/,
      );
    });

    test('until all members are known to have loaded it', () => {
      const good = { onDisk: 'new', loaded: 'new' };
      expect(conditionOf(replaced([good, good, undefined], 'RootNotLoaded'))).toMatchObject({
        reason: 'RootNotLoaded',
        message:
          'it is not known which root member c-2 trusts for other members and for clients: its agent does not report it',
      });
      expect(
        conditionOf(replaced([good, good, { onDisk: 'new+old', loaded: 'new+old' }], 'RootNotLoaded'))?.status,
      ).toBe('True');
      // Nothing says that there ever was another root.
      expect(conditionOf(replaced([good, good, undefined], 'Issuing'))?.status).toBe('True');
    });
  });

  test('the status of each member shows what it trusts', () => {
    const { members } = statusOf(roots({ onDisk: 'b', loaded: 'a' }, { onDisk: 'c' }));
    expect(members.map(({ loaded }) => loaded)).toEqual([undefined, { peerRoot: 'a' }, undefined]);
  });
});

test('the condition exists in every state of a cluster', () => {
  const states: ((made: World) => World)[] = [
    (made) => made,
    (made) => made.set({ record: unknown('no answer') }),
    (made) => made.set({ record: { known: false, why: 'garbage', unreadable: true } }),
    (made) => made.set({ record: known(undefined) }),
    (made) => made.set({ record: known(undefined), statefulSet: known(undefined) }),
    (made) => made.noQuorum(),
  ];
  for (const state of states) expect(conditionOf(state(world({})))?.status).toBe('True');
});

describe('the list', () => {
  const before = [
    { secret: 'peer-ca', notAfter: at(now + 5) },
    { secret: 'peer-tls', notAfter: at(now + 6) },
    { secret: 'another', notAfter: at(now + 7) },
  ];

  test('is what was read, in the order of the Secrets', () => {
    const { certificates } = statusOf(
      world({ certificates: [seen('peer-tls'), seen('peer-ca')] }, { certificates: before }),
    );
    const shown = { notAfter: at(now + day), renewAt: at(now), root: 'abcd' };
    expect(certificates).toEqual(secrets.map((secret) => ({ secret, ...shown })));
  });

  test('remembers the root of an authority whose Secret is empty, and does not report it as expired', () => {
    const lost = { secret: 'peer-ca', notAfter: at(now - day), root: 'abcd' };
    const problems = [problem('AuthorityLost', 'a is lost')];
    const made = world({ certificates: [seen('peer-tls')], authorities: [lost], problems }, { certificates: [lost] });
    expect(statusOf(made).certificates).toMatchObject([lost, { secret: 'peer-tls' }]);
    expect(said(made)).toBe('False AuthorityLost: a is lost');
    // The content of the Secret is newer.
    const back = world({ certificates: [seen('peer-ca')], authorities: [lost] });
    expect(statusOf(back).certificates).toMatchObject([{ secret: 'peer-ca', notAfter: at(now + day) }]);
  });

  test('keeps what was seen last of a Secret that cannot be read, and nothing of one that is empty', () => {
    const change = { certificates: [], unread: [{ secret: 'peer-tls', why: 'no answer' }] };
    expect(statusOf(world(change, { certificates: before })).certificates).toEqual([before[1]]);
    expect(statusOf(world({ ...never, looked: undefined }, { certificates: before })).certificates).toEqual(
      before.slice(0, 2),
    );
  });
});

describe('in one word', () => {
  test('a cluster that serves is Ready, with what is wrong with its certificates', () => {
    const lost = world({ problems: [problem('AuthorityLost', 'a is lost')] });
    expect(statusOf(lost)).toMatchObject({ phase: 'Ready', reason: 'AuthorityLost', message: 'a is lost' });
    expect(statusOf(world({ problems: [problem('Issuing', 'x')] }))).toMatchObject({ reason: 'UpToDate' });
    expect(statusOf(world({}))).toMatchObject({ reason: 'UpToDate' });
  });

  test('a forming cluster reports what it waits for', () => {
    const waits = world({ problems: [problem('WaitingForSecrets', 'Secret peer-ca does not exist')] });
    waits.set({ record: known(undefined) }).resource({
      ...waits.cluster,
      status: {},
      certificates: { ...good, problems: [problem('WaitingForSecrets', 'Secret peer-ca does not exist')] },
    });
    expect(waits.message('Available')).toContain('Secret peer-ca does not exist');
  });
});
