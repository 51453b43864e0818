import { Chart, Duration, Testing } from 'cdk8s';
import { type CertManagerTlsProps, EtcdCluster, EtcdTls, IssuerKind, type NoTlsProps } from '..';
import { readTls } from './tls-binding';

const orders = { name: 'orders', namespace: 'shop', clusterDomain: 'cluster.local' };

/** What a cluster gets of a source, by way of `spec.tls`. */
function bound(
  tls: EtcdTls,
  cluster: { readonly name: string; readonly namespace?: string; readonly clusterDomain: string },
) {
  const { spec, problems } = tls._spec(cluster);
  return { ...readTls(spec, cluster), problems };
}

const problemsOf = (tls: EtcdTls) =>
  new EtcdCluster(new Chart(Testing.app(), 'chart', { namespace: 'shop' }), 'orders', { tls }).node.validate();

// biome-ignore lint/suspicious/noExplicitAny: the schema of cert-manager is checked elsewhere
function certificatesOf(props: CertManagerTlsProps, cluster = orders): any[] {
  const { certificates, problems } = bound(EtcdTls.certManager(props), cluster);
  expect(problems).toEqual([]);
  return [...certificates];
}

const [peer, server, client, root, backup] = certificatesOf({ issuer: 'ca' });

test('without TLS there is nothing', () => {
  expect(EtcdTls.none().enabled).toBe(false);
  expect(bound(EtcdTls.none(), orders)).toEqual({ certificates: [], problems: [] });
});

describe('TLS is switched off', () => {
  const sources: [string, EtcdTls][] = [
    ['managed', EtcdTls.managed({ serverNames: ['etcd.example.com'] })],
    ['certManager', EtcdTls.certManager({ issuer: 'ca' })],
    ['fromSecrets', EtcdTls.fromSecrets({ peer: 'p', server: 's', client: 'c' })],
  ];

  test.each(sources)('and what %s made stays', (_, previous) => {
    const tls = EtcdTls.none({ previous });
    expect(tls.enabled).toBe(false);
    const { userCertificate: _before, ...before } = bound(previous, orders);
    const { userCertificate: _after, ...after } = bound(tls, orders);
    expect(after).toEqual({ ...before, disabling: true });
  });

  const noCertificates =
    'tls: previous: EtcdTls.none has no certificates; give the EtcdTls that the cluster had before, such as EtcdTls.managed()';

  test.each<[string, EtcdTls, string]>([
    ['from none', EtcdTls.none({ previous: EtcdTls.none() }), noCertificates],
    ['twice', EtcdTls.none({ previous: EtcdTls.none({ previous: EtcdTls.managed() }) }), noCertificates],
    [
      'from something with a mistake',
      EtcdTls.none({ previous: EtcdTls.managed({ rootRotation: 'now!' }) }),
      "tls.rootRotation: 'now!' is not a valid rotation",
    ],
    [
      'in JavaScript, without previous',
      EtcdTls.none(EtcdTls.managed() as NoTlsProps),
      'tls: EtcdTls.none takes properties; write EtcdTls.none({ previous: … })',
    ],
  ])('%s: one line', (_, tls, message) => {
    expect(problemsOf(tls)).toEqual([expect.stringContaining(message)]);
  });

  test('what is not given changes nothing', () => {
    expect(bound(EtcdTls.none({ previous: undefined }), orders)).toEqual(bound(EtcdTls.none(), orders));
  });
});

describe('the time in which clients may still use http', () => {
  const accepted = (acceptPlaintextFor: Duration) =>
    [
      EtcdTls.managed({ acceptPlaintextFor }),
      EtcdTls.certManager({ issuer: 'ca', acceptPlaintextFor }),
      EtcdTls.fromSecrets({ peer: 'p', server: 's', client: 'c', acceptPlaintextFor }),
    ].map((tls) => tls._spec(orders));

  test.each([
    [Duration.days(2), '2d'],
    [Duration.minutes(90), '90m'],
    [Duration.millis(1500), '1500ms'],
    [Duration.hours(0), '0s'],
  ])('%s', (duration, text) => {
    for (const { spec, problems } of accepted(duration)) {
      expect([spec?.acceptPlaintextFor, problems]).toEqual([text, []]);
    }
  });

  test('is not among the Secrets', () => {
    for (const { spec } of accepted(Duration.days(2)))
      expect(readTls(spec, orders).secrets).not.toHaveProperty('acceptPlaintextFor');
  });

  test.each([
    [Duration.millis(0.5), '0.5ms'],
    [Duration.hours(Number.NaN), 'NaNms'],
  ])('a mistake is one line: %s', (duration, text) => {
    for (const { problems } of accepted(duration)) {
      expect(problems).toEqual([
        `tls: acceptPlaintextFor: ${text} is not a whole number of milliseconds; give another one, such as 24h`,
      ]);
    }
  });

  test('at most a year', () => {
    for (const { problems } of accepted(Duration.days(365))) expect(problems).toEqual([]);
    for (const { problems } of accepted(Duration.hours(8761))) {
      expect(problems).toEqual([
        expect.stringMatching(/^tls: acceptPlaintextFor: 8761h is longer than a year; give at most 365d$/),
      ]);
    }
  });

  test('a negative one does not exist', () => {
    expect(() => accepted(Duration.hours(-1))).toThrow('Duration amounts cannot be negative');
  });
});

test('Secrets of others are taken by their names', () => {
  const tls = EtcdTls.fromSecrets({ peer: 'p', server: 's', client: 'c' });
  expect(tls.enabled).toBe(true);
  expect(bound(tls, { ...orders, namespace: undefined })).toEqual({
    secrets: { peer: 'p', server: 's', client: 'c' },
    certificates: [],
    mayRevoke: true,
    problems: [],
  });
});

test.each([
  [{ root: 'r' }, 'tls.root: give both tls.root and tls.backup, or neither'],
  [{ backup: 'b' }, 'tls.root: give both tls.root and tls.backup, or neither'],
  [{ root: 'R', backup: 'b' }, "tls.root: 'R' is not a valid name of a Secret"],
  [{ root: 'r', backup: 'B' }, "tls.backup: 'B' is not a valid name of a Secret"],
])('Secrets for users: %j', (more, message) => {
  expect(problemsOf(EtcdTls.fromSecrets({ peer: 'p', server: 's', client: 'c', ...more }))).toEqual([
    expect.stringContaining(message),
  ]);
});

const names = {
  peer: 'orders-peer-tls',
  server: 'orders-server-tls',
  client: 'orders-client-tls',
  root: 'orders-root-tls',
  backup: 'orders-backup-tls',
};

describe('managed', () => {
  test('the reconciler writes Secrets with fixed names, and needs no namespace in the chart', () => {
    expect(bound(EtcdTls.managed(), { ...orders, namespace: undefined })).toEqual({
      secrets: names,
      certificates: [],
      managed: { peerAuthority: 'orders-peer-ca', clientAuthority: 'orders-client-ca' },
      problems: [],
    });
  });

  test('further names of the servers, and a rotation, are part of it', () => {
    const props = { serverNames: ['etcd.example.com', '*.example.com', '192.0.2.7', '2001:db8::7'] };
    const { managed, problems } = bound(
      EtcdTls.managed({ ...props, intermediateRotation: '2026-11-25T10:00' }),
      orders,
    );
    expect(problems).toEqual([]);
    expect(managed).toMatchObject({ ...props, intermediateRotation: '2026-11-25T10:00' });
  });

  test.each([
    [{ serverNames: ['https://etcd'] }, "tls.serverNames[0]: 'https://etcd' is not a valid DNS name or IP address"],
    [{ serverNames: ['a.*.example.com'] }, "tls.serverNames[0]: 'a.*.example.com' is not a valid DNS name"],
    [{ serverNames: ['10.0.0.300.'] }, "tls.serverNames[0]: '10.0.0.300.' is not a valid DNS name"],
    [{ serverNames: ['a', 'a'] }, 'tls.serverNames[1]: has the same value as [0]'],
    [{ serverNames: Array.from({ length: 65 }, (_, n) => `n${n}`) }, 'tls.serverNames: has 65 items: give at most 64'],
    [{ intermediateRotation: 'this month' }, "tls.intermediateRotation: 'this month' is not a valid rotation"],
    [{ rootRotation: 'now!' }, "tls.rootRotation: 'now!' is not a valid rotation"],
    [{ intermediateRevocation: 'today!' }, "tls.intermediateRevocation: 'today!' is not a valid revocation"],
    [{ intermediateRotation: '' }, "tls.intermediateRotation: '' is not a valid rotation"],
  ])('mistake %#', (props, message) => {
    expect(problemsOf(EtcdTls.managed(props))).toEqual([expect.stringContaining(message)]);
  });
});

test('each certificate fills the Secret of its own name', () => {
  const { secrets } = bound(EtcdTls.certManager({ issuer: 'ca' }), orders);
  expect(secrets).toEqual({
    peer: 'orders-peer-cert',
    server: 'orders-server-cert',
    client: 'orders-client-cert',
    root: 'orders-root-cert',
    backup: 'orders-backup-cert',
  });
  expect(
    [peer, server, client, root, backup].map(({ metadata, spec }) => [
      metadata.name,
      metadata.namespace,
      spec.secretName,
    ]),
  ).toEqual(Object.values(secrets!).map((name) => [name, 'shop', name]));
});

test('the peers have the names of all possible members, and no IP address', () => {
  expect(peer.spec.dnsNames).toEqual(
    [0, 1, 2, 3, 4, 5, 6].map((ordinal) => `orders-${ordinal}.orders-peers.shop.svc.cluster.local`),
  );
  expect(peer.spec.ipAddresses).toBeUndefined();
});

test('the server has every name that a client may use', () => {
  expect(server.spec.ipAddresses).toEqual(['127.0.0.1']);
  expect(server.spec.dnsNames).toEqual(
    expect.arrayContaining([
      'localhost',
      'orders',
      'orders.shop',
      'orders.shop.svc',
      'orders.shop.svc.cluster.local',
      'orders-0-client',
      'orders-6-client.shop',
      'orders-6-client.shop.svc',
      'orders-6-client.shop.svc.cluster.local',
    ]),
  );
});

test('the server has the name by which the reconciler and its Jobs reach a member that is not ready', () => {
  const names = server.spec.dnsNames.filter((name: string) => name.includes('peers'));
  expect(names).toEqual(peer.spec.dnsNames);
  expect(new Set(server.spec.dnsNames).size).toBe(1 + 4 + 7 * 4 + 7);
});

test('members are servers and clients at once, clients are clients', () => {
  const common = ['digital signature', 'key encipherment'];
  expect(peer.spec.usages).toEqual([...common, 'server auth', 'client auth']);
  expect(server.spec.usages).toEqual([...common, 'server auth', 'client auth']);
  for (const { spec } of [client, root, backup]) expect(spec.usages).toEqual([...common, 'client auth']);
});

test('the common name is the user of etcd', () => {
  expect([client, root, backup].map(({ spec }) => spec.commonName)).toEqual(['orders-client', 'root', 'orders-backup']);
  const { userCertificate } = bound(EtcdTls.certManager({ issuer: 'ca', duration: Duration.days(30) }), orders);
  expect(userCertificate!('orders-user-api', 'api')).toMatchObject({
    metadata: { name: 'orders-user-api', namespace: 'shop' },
    spec: { secretName: 'orders-user-api', commonName: 'api', duration: '720h', issuerRef: { name: 'ca' } },
  });
});

test('a common name is never longer than a certificate takes', () => {
  const [longPeer, longServer, ...longClients] = certificatesOf({ issuer: 'ca' }, { ...orders, name: 'n'.repeat(50) });
  expect([longPeer.spec.commonName, longServer.spec.commonName]).toEqual([undefined, undefined]);
  for (const { spec } of longClients) expect(spec.commonName.length).toBeLessThanOrEqual(64);
});

test('each renewal of a certificate creates a new key', () => {
  for (const { spec } of [peer, server, client, root, backup]) {
    expect(spec.privateKey).toEqual({ algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' });
  }
});

test('peers may have an issuer of their own', () => {
  const own = certificatesOf({ issuer: 'ca', issuerKind: IssuerKind.CLUSTER_ISSUER, peerIssuer: 'peers' });
  const group = 'cert-manager.io';
  expect(own.map(({ spec }) => spec.issuerRef)).toEqual([
    { name: 'peers', kind: 'ClusterIssuer', group },
    ...Array(4).fill({ name: 'ca', kind: 'ClusterIssuer', group }),
  ]);
  const [mixed] = certificatesOf({ issuer: 'ca', peerIssuer: 'peers', peerIssuerKind: IssuerKind.CLUSTER_ISSUER });
  expect(mixed.spec.issuerRef).toEqual({ name: 'peers', kind: 'ClusterIssuer', group });
  expect(peer.spec.issuerRef).toEqual({ name: 'ca', kind: 'Issuer', group });
});

test('durations are those of Go, which knows no days', () => {
  const [first] = certificatesOf({ issuer: 'ca', duration: Duration.days(30), renewBefore: Duration.days(10) });
  expect(first.spec).toMatchObject({ duration: '720h', renewBefore: '240h' });
});

test('certificates need the name of the namespace', () => {
  expect(bound(EtcdTls.certManager({ issuer: 'ca' }), { ...orders, namespace: undefined }).problems).toEqual([
    expect.stringMatching(/^tls: .* chart has none; create it with new Chart\(app, id, \{ namespace \}\)$/),
  ]);
});

test.each<[EtcdTls, string]>([
  [EtcdTls.certManager({ issuer: '' }), "tls.issuer: '' is not a valid name of an Issuer"],
  [EtcdTls.certManager({ issuer: 'a', peerIssuer: 'B' }), "tls.peerIssuer: 'B' is not a valid name of an Issuer"],
  [
    EtcdTls.certManager({ issuer: 'a', peerIssuerKind: IssuerKind.ISSUER }),
    'tls: peerIssuerKind has no effect without peerIssuer',
  ],
  [
    EtcdTls.certManager({ issuer: 'a', issuerKind: 'Vault' as IssuerKind }),
    "tls.issuerKind: 'Vault' is not one of Issuer, Cl",
  ],
  [EtcdTls.certManager({ issuer: 'a', duration: Duration.minutes(59) }), 'tls: duration: 59m is less than the hour'],
  [EtcdTls.certManager({ issuer: 'a', renewBefore: Duration.minutes(4) }), 'tls: renewBefore: 4m is less than the 5m'],
  [EtcdTls.certManager({ issuer: 'a', renewBefore: Duration.days(90) }), 'tls: renewBefore: 90d is not less than'],
  [EtcdTls.fromSecrets({ peer: 'P', server: 's', client: 'c' }), "tls.peer: 'P' is not a valid name of a Secret"],
])('mistake %#', (tls, message) => {
  expect(problemsOf(tls)).toEqual([expect.stringContaining(message)]);
});
