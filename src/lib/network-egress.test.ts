import { destinationRules, dnsRules, egressProblems, egressSpec, type NetworkEgress } from './network-egress';

const apiServer = [{ cidr: '10.0.0.1/32', ports: [6443] }];

test('a destination without ports has no rule for ports', () => {
  expect(destinationRules([{ cidr: '10.0.0.0/8' }, { podLabels: {}, ports: [443, 80] }])).toEqual([
    { to: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: undefined },
    {
      to: [{ podSelector: {} }],
      ports: [
        { port: 443, protocol: 'TCP' },
        { port: 80, protocol: 'TCP' },
      ],
    },
  ]);
});

test('DNS is the one of the cluster, by both protocols, unless another is given', () => {
  const ports = (port: number) => ['UDP', 'TCP'].map((protocol) => ({ port, protocol }));
  const [own] = dnsRules({ apiServer }) as { to: object[]; ports: object[] }[];
  expect(own!.ports).toEqual(ports(53));
  expect(dnsRules({ apiServer, dns: [{ cidr: '10.0.0.2/32', ports: [5353] }] })).toEqual([
    { to: [{ ipBlock: { cidr: '10.0.0.2/32' } }], ports: ports(5353) },
  ]);
});

test.each<[NetworkEgress, string]>([
  [{ apiServer: [] }, 'egress.apiServer: is empty: give at least 1 item'],
  [{ apiServer, dns: [] }, 'egress.dns: is empty: give at least 1 item'],
  [{ apiServer: [{ ports: [443] }] }, 'egress.apiServer[0]: a peer is either pods'],
  [
    { apiServer, stores: [{ cidr: '10.0.0.1' }] },
    "egress.stores[0].cidr: '10.0.0.1' is not a valid range of addresses",
  ],
  [{ apiServer, stores: [{ podLabels: {}, ports: [] }] }, 'egress.stores[0].ports: is empty: give at least 1 item'],
  [{ apiServer, dns: [{ podLabels: {}, ports: [0] }] }, 'egress.dns[0].ports[0]: 0 is too small'],
])('%j: %s', (egress, message) => {
  expect(egressProblems(egressSpec(egress))).toEqual([expect.stringContaining(message)]);
});
