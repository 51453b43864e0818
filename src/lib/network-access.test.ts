import { NetworkAccess, type NetworkPeer } from '..';

test('the simple ones', () => {
  expect(NetworkAccess.sameNamespace()._peers()).toEqual([{ podSelector: {} }]);
  expect(NetworkAccess.anywhere()._peers()).toBe('any');
  expect(NetworkAccess.nobody()._peers()).toEqual([]);
});

test.each<[NetworkPeer, object]>([
  [{ podLabels: { app: 'shop' } }, { podSelector: { matchLabels: { app: 'shop' } } }],
  [
    { namespace: 'monitoring' },
    { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
  ],
  [{ namespaceLabels: {} }, { namespaceSelector: {} }],
  [
    { namespaceLabels: { team: 'a' }, podLabels: { app: 'shop' } },
    { namespaceSelector: { matchLabels: { team: 'a' } }, podSelector: { matchLabels: { app: 'shop' } } },
  ],
  [{ cidr: '10.0.0.0/8' }, { ipBlock: { cidr: '10.0.0.0/8' } }],
  [{ cidr: 'fd00::/8' }, { ipBlock: { cidr: 'fd00::/8' } }],
])('%j', (peer, expected) => {
  const access = NetworkAccess.peers(peer);
  expect(access._peers()).toEqual([expected]);
  expect(access._problems('metricsAccess')).toEqual([]);
});

test.each<[NetworkPeer, string]>([
  [{}, 'networkAccess.peers[0]: a peer is either pods (podLabels, namespace, namespaceLabels) or addresses (cidr)'],
  [{ cidr: '10.0.0.0/8', namespace: 'a' }, 'networkAccess.peers[0]: a peer is either pods'],
  [
    { namespace: 'a', namespaceLabels: {} },
    'networkAccess.peers[0]: namespace cannot be combined with namespaceLabels',
  ],
  [{ namespace: 'A' }, "networkAccess.peers[0].namespace: 'A' is not a valid namespace"],
  [
    { cidr: '10.0.0.1' },
    "networkAccess.peers[0].cidr: '10.0.0.1' is not a valid range of addresses: write it like 10.0.0.0/8",
  ],
  [{ cidr: '10.0.0.0/33' }, "cidr: '10.0.0.0/33' is not a valid range"],
])('%j is a mistake', (peer, message) => {
  expect(NetworkAccess.peers(peer)._problems('networkAccess')).toEqual([expect.stringContaining(message)]);
});
