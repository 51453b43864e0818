import type { Manifest } from './synth';

export interface Pod {
  readonly labels: Readonly<Record<string, string>>;
  readonly namespace: string;
  readonly namespaceLabels?: Readonly<Record<string, string>>;
}

/** Returns true if a label selector selects these labels. An empty selector selects everything, and undefined nothing. */
export function selects(selector: Manifest, labels: Pod['labels'] = {}): boolean {
  if (!selector) return false;
  if (selector.matchExpressions) throw new Error('matchExpressions are not understood here');
  return Object.entries(selector.matchLabels ?? {}).every(([name, value]) => labels[name] === value);
}

/**
 * Whether one pod may connect to a port of another, as NetworkPolicies of the target's namespace have it. An empty list of
 * peers or ports means all of them.
 */
export function mayConnect(policies: readonly Manifest[], from: Pod, to: Pod, port: number): boolean {
  const applying = policies.filter(({ spec }) => selects(spec.podSelector, to.labels));
  if (applying.length === 0) return true;
  return applying
    .flatMap(({ spec }) => spec.ingress ?? [])
    .filter(({ ports }) => !ports?.length || ports.some((each: Manifest) => each.port === port))
    .some((rule) => !rule.from?.length || rule.from.some((peer: Manifest) => isPeer(peer, from, to.namespace)));
}

function isPeer({ podSelector, namespaceSelector, ipBlock }: Manifest, pod: Pod, ownNamespace: string): boolean {
  if (ipBlock) return false;
  const inNamespace = namespaceSelector
    ? selects(namespaceSelector, namespaceLabels(pod))
    : pod.namespace === ownNamespace;
  return inNamespace && (!podSelector || selects(podSelector, pod.labels));
}

function namespaceLabels({ namespace, namespaceLabels }: Pod): Pod['labels'] {
  return { 'kubernetes.io/metadata.name': namespace, ...namespaceLabels };
}
