import type { Manifest } from './synth';

export interface Pod {
  readonly labels: Readonly<Record<string, string>>;
  readonly namespace: string;
  readonly namespaceLabels?: Readonly<Record<string, string>>;
}

/** Addresses that are not pods. */
export interface Address {
  readonly address: string;
}

/** Returns true if a label selector selects these labels. An empty selector selects everything, and undefined nothing. */
export function selects(selector: Manifest, labels: Pod['labels'] = {}): boolean {
  if (!selector) return false;
  if (selector.matchExpressions) throw new Error('matchExpressions are not understood here');
  return Object.entries(selector.matchLabels ?? {}).every(([name, value]) => labels[name] === value);
}

/**
 * Returns true if one pod may connect to a port of another by the NetworkPolicies of the target's namespace. An empty
 * list of peers or ports means all of them.
 */
export function mayConnect(policies: readonly Manifest[], from: Pod, to: Pod, port: number): boolean {
  return allows(policies, 'ingress', { pod: to, other: from }, { port });
}

/** The same for the connections that a pod opens, by the NetworkPolicies of its own namespace. */
export function mayOpen(
  policies: readonly Manifest[],
  from: Pod,
  to: Pod | Address,
  port: number,
  protocol = 'TCP',
): boolean {
  return allows(policies, 'egress', { pod: from, other: to }, { port, protocol });
}

function allows(
  policies: readonly Manifest[],
  direction: 'ingress' | 'egress',
  { pod, other }: { pod: Pod; other: Pod | Address },
  { port, protocol = 'TCP' }: { port: number; protocol?: string },
): boolean {
  const [type, side] = direction === 'ingress' ? ['Ingress', 'from'] : ['Egress', 'to'];
  const applying = policies.filter(
    ({ spec }) => spec.policyTypes.includes(type) && selects(spec.podSelector, pod.labels),
  );
  if (applying.length === 0) return true;
  return applying
    .flatMap(({ spec }) => spec[direction] ?? [])
    .filter(
      ({ ports }) => !ports?.length || ports.some((each: Manifest) => each.port === port && each.protocol === protocol),
    )
    .some((rule) => !rule[side]?.length || rule[side].some((peer: Manifest) => isPeer(peer, other, pod.namespace)));
}

function isPeer(
  { podSelector, namespaceSelector, ipBlock }: Manifest,
  pod: Pod | Address,
  ownNamespace: string,
): boolean {
  if (ipBlock || 'address' in pod) return 'address' in pod && ipBlock?.cidr === `${pod.address}/32`;
  const inNamespace = namespaceSelector
    ? selects(namespaceSelector, namespaceLabels(pod))
    : pod.namespace === ownNamespace;
  return inNamespace && (!podSelector || selects(podSelector, pod.labels));
}

function namespaceLabels({ namespace, namespaceLabels }: Pod): Pod['labels'] {
  return { 'kubernetes.io/metadata.name': namespace, ...namespaceLabels };
}
