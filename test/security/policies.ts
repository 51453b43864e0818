import type { NetworkDestination } from '../../src';
import { kubectl } from '../e2e/support/kubectl';
import type { Manifest } from '../synth';

/** Where the API server answers, as it is for those behind a Service: with each address and port of it. */
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

/** Nobody may connect to a pod of the namespace, and no pod to anybody. */
export const denyAll = policy('deny-all', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] });

/** A pod of the test itself: it may open what it likes, and others may connect to it. */
export const free = (name: string, matchLabels: object): Manifest =>
  policy(name, { podSelector: { matchLabels }, policyTypes: ['Ingress', 'Egress'], ingress: [{}], egress: [{}] });
