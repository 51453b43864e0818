import type { Transport } from '../protocol/record.ts';
import { sealConfig } from './etcd-config.ts';
import { TestGate } from './gate/gate.fixture.ts';
import type { MemberConfig } from './member-config.ts';
import { startedTransport, transportOf, withTransport } from './transport.ts';

const certificates = { peerTlsDir: '/p', serverTlsDir: '/s' };
const pod = (config: Partial<MemberConfig> = {}) => ({ etcdVersion: '3.6.16', ...config });
const record = (peers: Transport['peers'], clients: Transport['clients']): Transport => ({
  ...{ peers, clients, target: 'https', since: '2026-11-21T22:00:00.000Z' },
});

describe('how the next etcd speaks', () => {
  test.each([
    ['no record', undefined, 'http', 'http'],
    ['peers http, clients http', record('http', 'http'), 'http', 'http'],
    ['peers http, clients both', record('http', 'both'), 'http', 'http'],
    ['peers http, clients https', record('http', 'https'), 'http', 'http'],
  ])('%s: plaintext in a pod without certificates', (_, transport, peers, clients) => {
    expect(transportOf(pod(), transport)).toEqual({ peers, clients, hasCertificates: false });
  });

  test.each([
    ['no record', undefined, 'https', 'https'],
    ['peers http, clients http', record('http', 'http'), 'http', 'http'],
    ['peers http, clients both', record('http', 'both'), 'http', 'both'],
    ['peers https, clients https', record('https', 'https'), 'https', 'https'],
  ])('%s: as the record says in a pod with certificates', (_, transport, peers, clients) => {
    expect(transportOf(pod(certificates), transport)).toEqual({ peers, clients, hasCertificates: true });
  });

  test.each([{}, { peerTlsDir: '/p' }, { serverTlsDir: '/s' }])(
    'peers cannot speak https in a pod with %j',
    (given) => {
      expect(transportOf(pod(given), record('https', 'https'))).toEqual({
        reason: 'ConfigRefused',
        message:
          'the members speak https with each other, but this pod has no certificates; ' +
          'apply EtcdTls.none({ previous: … }) first, which keeps them until every member speaks http',
      });
    },
  );

  test('etcd 3.4 cannot serve clients by both schemes', () => {
    const old = pod({ ...certificates, etcdVersion: '3.4.44' });
    expect(transportOf(old, record('http', 'both'))).toEqual({
      reason: 'ConfigRefused',
      message: 'etcd 3.4 cannot serve http and https on one port; upgrade to 3.5 before you switch TLS on or off',
    });
    expect(transportOf(old, record('https', 'https'))).toMatchObject({ peers: 'https' });
    expect(transportOf(pod({ etcdVersion: '3.4.44' }), record('http', 'both'))).toMatchObject({ clients: 'http' });
  });
});

test('every URL gets the scheme, and keeps host and port', async () => {
  await using gate = await TestGate.make();
  Object.assign(gate.args, { 'peer-url': 'http://[fd00::1]:4380', 'listen-client-url': 'http://0.0.0.0:4379' });
  const urls = ({ peerUrl, listenPeerUrl, clientUrl, listenClientUrls }: MemberConfig) => [
    ...[peerUrl, listenPeerUrl, clientUrl],
    ...listenClientUrls,
  ];
  const half = withTransport(gate.config, record('http', 'both'));
  expect(urls(half)).toEqual([
    ...['http://[fd00::1]:4380', 'http://0.0.0.0:2380', 'http://127.0.0.1:2379'],
    ...['http://0.0.0.0:4379', 'https://0.0.0.0:4379'],
  ]);
  expect(urls(withTransport(half, record('https', 'https')))).toEqual([
    ...['https://[fd00::1]:4380', 'https://0.0.0.0:2380', 'https://127.0.0.1:2379'],
    'https://0.0.0.0:4379',
  ]);
  expect(urls(withTransport(half, record('http', 'http')))).toEqual(urls(gate.config));
});

describe('how etcd was started', () => {
  const all = [
    ['http', 'http'],
    ['http', 'both'],
    ['https', 'https'],
  ] as const;
  test.each(all)('peers %s, clients %s: etcd.yaml says it, whatever the record says now', async (peers, clients) => {
    await using gate = await TestGate.make();
    Object.assign(gate.args, { 'peer-tls-dir': '/p', 'server-tls-dir': '/s' });
    await sealConfig(withTransport(gate.config, { peers, clients }), { token: 't' });
    await gate.file('record-cache.json', JSON.stringify({ v: 1, transport: record('http', 'http') }));
    expect(await startedTransport(gate.config)).toEqual({ peers, clients, hasCertificates: true });
  });

  test('without certificates', async () => {
    await using gate = await TestGate.make();
    await sealConfig(gate.config, { token: 't' });
    expect(await startedTransport(gate.config)).toEqual({ peers: 'http', clients: 'http', hasCertificates: false });
  });
});
