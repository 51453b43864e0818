import { createHash } from 'node:crypto';
import { ports } from '../etcd/cluster-ports';
import { mirrored } from '../etcd/etcd-image';
import { agentImage } from '../lib/agent-image';
import { completeResources } from '../lib/backup-pod';
import { annotated } from '../lib/labels';
import type { Manifest } from '../lib/manifest';
import { accessPeers, policyPorts } from '../lib/network-access';
import { destinationRules, dnsRules } from '../lib/network-egress';
import { withPodFields } from '../lib/pods/pod-fields';
import { defaults } from '../resource/defaults';
import type { EtcdReconcilerSpec, NetworkEgressSpec, ResourceAmounts } from '../resource/types';
import { reconcilerLabels, reconcilerPod, reconcilerSelectorLabels, selectorText } from './reconciler-pod';
import { namespaceRules } from './reconciler-rules';

/** Returns the objects of a reconciler without its overrides, in the order of apply, by their kinds: there is one of each. */
export function reconcilerObjects(name: string, spec: EtcdReconcilerSpec): Map<string, Manifest> {
  const { labels, annotations, serviceAccountName, serviceAccountAnnotations } = spec;
  const metadata = { name, labels: reconcilerLabels(name, labels), ...annotated(annotations) };
  const account = {
    metadata: { ...metadata, ...annotated({ ...annotations, ...serviceAccountAnnotations }) },
    automountServiceAccountToken: false,
  };
  const rbac = 'rbac.authorization.k8s.io';
  const contents: readonly (readonly [apiVersion: string, kind: string, content: object])[] = [
    ...(serviceAccountName === undefined ? [['v1', 'ServiceAccount', account] as const] : []),
    [`${rbac}/v1`, 'Role', { rules: namespaceRules(name, leaseName(name, spec.selector)) }],
    [
      `${rbac}/v1`,
      'RoleBinding',
      {
        roleRef: { apiGroup: rbac, kind: 'Role', name },
        subjects: [{ kind: 'ServiceAccount', name: reconcilerAccount(name, spec) }],
      },
    ],
    ['apps/v1', 'Deployment', { spec: deployment(name, spec) }],
    ['v1', 'Service', { spec: service(name) }],
    ['networking.k8s.io/v1', 'NetworkPolicy', { spec: networkPolicy(name, spec) }],
  ];
  return new Map(contents.map(([apiVersion, kind, content]) => [kind, { apiVersion, kind, metadata, ...content }]));
}

export const reconcilerAccount = (name: string, { serviceAccountName }: EtcdReconcilerSpec): string =>
  serviceAccountName ?? name;

/** Two reconcilers with different selectors must not share a Lease. */
export function leaseName(name: string, selector: EtcdReconcilerSpec['selector']): string {
  if (!selector) return name;
  return `${name}-${createHash('sha256').update(selectorText(selector)).digest('hex').slice(0, 8)}`;
}

export const reconcilerImage = ({ image, registry }: EtcdReconcilerSpec): string =>
  image ?? mirrored(agentImage, registry);

function deployment(name: string, spec: EtcdReconcilerSpec): object {
  const { replicas = defaults.EtcdReconcilerSpec.replicas, selector, labels, imagePullPolicy, imagePullSecrets } = spec;
  const { nodeSelector, tolerations, priorityClassName } = spec;
  const selectorLabels = reconcilerSelectorLabels(name);
  const pod = reconcilerPod({
    ...{ name, selector, selectorLabels, labels: reconcilerLabels(name, labels) },
    serviceAccountName: reconcilerAccount(name, spec),
    lease: leaseName(name, selector),
    ...{ image: reconcilerImage(spec), imagePullPolicy, imagePullSecrets },
    resources: completeResources<ResourceAmounts & { readonly memory: string }>(
      spec.resources ?? {},
      defaults.EtcdReconcilerSpec.resources,
    ),
    spread: replicas > 1,
    ...{ nodeSelector, tolerations, priorityClassName },
  });
  return {
    replicas,
    selector: { matchLabels: selectorLabels },
    revisionHistoryLimit: spec.revisionHistoryLimit,
    template: withPodFields(pod, spec, { reconciler: spec.container }),
  };
}

const service = (name: string): object => ({
  selector: reconcilerSelectorLabels(name),
  ports: [{ name: 'metrics', port: ports.agent, targetPort: ports.agent, protocol: 'TCP' }],
});

function networkPolicy(
  name: string,
  { metricsAccess = defaults.EtcdReconcilerSpec.metricsAccess, egress }: EtcdReconcilerSpec,
): object {
  const peers = accessPeers(metricsAccess);
  const metrics = { ports: policyPorts([ports.agent]) };
  const rule = peers === 'any' ? metrics : { from: peers, ...metrics };
  return {
    podSelector: { matchLabels: reconcilerSelectorLabels(name) },
    policyTypes: egress ? ['Ingress', 'Egress'] : ['Ingress'],
    // An empty `from` would allow every client.
    ingress: peers.length > 0 ? [rule] : undefined,
    egress: egress && reconcilerEgress(egress),
  };
}

/** Returns the egress rules of a reconciler. It reaches the members and Jobs of every cluster of its namespace. */
function reconcilerEgress(egress: NetworkEgressSpec): object[] {
  return [
    pods('etcd', ports.client, ports.agent),
    pods('etcd-backup', ports.agent),
    ...destinationRules(egress.apiServer),
    ...dnsRules(egress),
  ];
}

function pods(name: string, ...numbers: readonly number[]): object {
  return {
    to: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': name } } }],
    ports: policyPorts(numbers),
  };
}
