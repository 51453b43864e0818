import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { memberSelector } from '../cluster/manifests/cluster-labels';
import { ports } from '../etcd/cluster-ports';

/**
 * The members of a cluster in the shapes in which cdk8s-plus describes pods. It is not imported, because every version of
 * Kubernetes has a package of its own.
 */
export interface MembersAsPeer {
  readonly podSelector: {
    readonly labelSelector: { isEmpty(): boolean; _toKube(): object };
    /** Undefined means the namespace of the pods that connect. */
    readonly namespaces?: { readonly names: readonly string[] };
  };
}

export function membersAsPeer(cluster: Construct, name: string): MembersAsPeer {
  const { namespace } = Chart.of(cluster);
  return {
    podSelector: {
      labelSelector: { isEmpty: () => false, _toKube: () => ({ matchLabels: memberSelector(name) }) },
      namespaces: namespace === undefined ? undefined : { names: [namespace] },
    },
  };
}

/**
 * Gives a cluster the member `containers`, of which cdk8s-plus takes the ports that it opens if the caller names none.
 * Without it, it would open those of peers and agents, too. It is not part of our API.
 */
export function openOnlyForClients(cluster: Construct): void {
  Object.defineProperty(cluster, 'containers', { value: [{ ports: [{ number: ports.client }] }] });
}
