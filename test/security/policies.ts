import type { NetworkDestination } from '../../src';
import { kubectl } from '../e2e/support/kubectl';
import type { Manifest } from '../synth';

/** The addresses and ports of the API server, as they are behind its Service. */
export async function apiServers(): Promise<NetworkDestination[]> {
  const slices = [
    'get',
    'endpointslices',
    '-n',
    'default',
    '-l',
    'kubernetes.io/service-name=kubernetes',
    '-o',
    'json',
  ];
  const { items } = JSON.parse((await kubectl(slices)).stdout);
  return items.flatMap(({ endpoints, ports }: Manifest) =>
    endpoints.flatMap(({ addresses }: Manifest) =>
      addresses.map((address: string) => ({
        cidr: `${address}/${address.includes(':') ? 128 : 32}`,
        ports: ports.map(({ port }: Manifest) => port),
      })),
    ),
  );
}

const policy = (name: string, spec: object): Manifest => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name },
  spec,
});

/** Denies all connections to and from pods of the namespace. */
export const denyAll = policy('deny-all', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] });

/** Allows all connections of a pod that belongs to the test. */
export const free = (name: string, matchLabels: object): Manifest =>
  policy(name, { podSelector: { matchLabels }, policyTypes: ['Ingress', 'Egress'], ingress: [{}], egress: [{}] });
