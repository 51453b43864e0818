import { resourceProblems } from '../resource/resource-problems';
import type { TlsSpec } from '../resource/types';
import { withDefaultNames } from './default-names';
import { EtcdTls } from './etcd-tls';
import { readTls } from './tls-binding';

const orders = { name: 'orders', namespace: 'shop', clusterDomain: 'cluster.local' };
const issuer = { issuer: 'ca' };

test.each<[string, TlsSpec, EtcdTls]>([
  ['managed', { managed: {} }, EtcdTls.managed()],
  ['cert-manager', { certManager: issuer }, EtcdTls.certManager(issuer)],
  [
    'a change of the source',
    { managed: {}, alsoTrust: { certManager: issuer } },
    EtcdTls.managed({ alsoTrust: EtcdTls.certManager(issuer) }),
  ],
  [
    'a change back',
    { certManager: issuer, alsoTrust: { managed: {} } },
    EtcdTls.certManager({ ...issuer, alsoTrust: EtcdTls.managed() }),
  ],
])('%s without names means the same as with those of the construct', (_, spec, tls) => {
  const written = tls._spec(orders).spec!;
  expect(written.peerSecret).toBeDefined();
  expect(withDefaultNames('orders', spec)).toEqual(withDefaultNames('orders', written));
  expect(readTls(spec, orders).secrets).toEqual(readTls(written, orders).secrets);
});

test('Secrets that something else writes have names too, but there is none of root', () => {
  expect(readTls({}, orders).secrets).toEqual({
    peer: 'orders-peer-cert',
    server: 'orders-server-cert',
    client: 'orders-client-cert',
  });
});

test('a name that is given stays, and a source that names its Secret of clients has no root of its own', () => {
  const tls = { clientSecret: 'api', managed: { clientAuthority: 'ca' } };
  expect(withDefaultNames('orders', tls)).toEqual({
    peerSecret: 'orders-peer-tls',
    serverSecret: 'orders-server-tls',
    clientSecret: 'api',
    managed: { peerAuthority: 'orders-peer-ca', clientAuthority: 'ca' },
  });
  expect(withDefaultNames('orders', { serverSecret: 'own', managed: {} }).rootSecret).toBe('orders-root-tls');
});

describe('a Secret that is named and also the default of another', () => {
  const problemsOf = (tls: TlsSpec) =>
    resourceProblems('EtcdCluster', { version: '3.6.16', tls }, { name: 'orders' }).map(({ path }) => path);
  const fields = ['peerSecret', 'serverSecret', 'clientSecret'] as const;
  const { alsoTrust: _, managed, certManager: __, ...made } = withDefaultNames('orders', { managed: {} });
  const { certManager: ___, managed: ____, ...cert } = withDefaultNames('orders', { certManager: issuer });

  const secrets = [...Object.values(made), managed!.peerAuthority, managed!.clientAuthority] as string[];
  const pairs = fields.flatMap((field) => secrets.flatMap((name) => (made[field] === name ? [] : [[field, name]])));

  test.each(pairs)('%s: %s', (field, name) => {
    // A source that names its Secret of clients has no Secrets of root and of backups.
    const isFree = field === 'clientSecret' && /root|backup/.test(name!);
    expect(problemsOf({ managed: {}, [field!]: name })).toEqual(isFree ? [] : ['spec.tls']);
  });

  test.each(Object.values(cert) as string[])('%s of the other source', (name) => {
    const alsoTrust = { certManager: issuer };
    expect(problemsOf({ managed: {}, serverSecret: name, alsoTrust })).toEqual(['spec.tls.alsoTrust']);
    expect(problemsOf({ managed: {}, alsoTrust: { ...alsoTrust, trustSecret: name } })).toEqual(['spec.tls.alsoTrust']);
  });

  test('that of both authorities', () => {
    const alsoTrust = { certManager: issuer };
    expect(problemsOf({ managed: {}, alsoTrust })).toEqual([]);
    expect(problemsOf({ managed: {}, serverSecret: 'orders-tls-trust', alsoTrust })).toEqual(['spec.tls.alsoTrust']);
  });
});
