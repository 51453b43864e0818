import { valueProblems } from '../resource/prop-problems';
import type { NetworkAccessSpec, NetworkPeerSpec } from '../resource/types';
import { type INamed, withNames } from '../validation/named';
import * as types from '../validation/property-types';
import { buildIfValid, list, shape } from '../validation/type-checks';

/** Selects pods or IP addresses, such as those that may connect. */
export interface NetworkPeer {
  /**
   * Selects the pods with these labels. `{}` means every pod.
   * @default - every pod of the selected namespaces
   */
  readonly podLabels?: { readonly [name: string]: string };
  /**
   * Names the pods' namespace.
   * @default - the cluster's own namespace, unless `namespaceLabels` is given
   */
  readonly namespace?: string | INamed;
  /**
   * Selects the pods of the namespaces with these labels. `{}` means every namespace.
   * @default - the cluster's own namespace, unless `namespace` is given
   */
  readonly namespaceLabels?: { readonly [name: string]: string };
  /**
   * Selects a range of addresses, such as `10.0.0.0/8`, for what is not a pod. It cannot be combined with the other
   * properties.
   * @default - none
   */
  readonly cidr?: string;
}

/** Selects the clients that may connect. It takes effect only if the network plugin enforces NetworkPolicies. */
export class NetworkAccess {
  /** Allows every pod of the cluster's own namespace. */
  static sameNamespace(): NetworkAccess {
    return new NetworkAccess([{ podLabels: {} }]);
  }

  /** Allows every client that can reach the pods, including clients in other namespaces and outside Kubernetes. */
  static anywhere(): NetworkAccess {
    return new NetworkAccess('any');
  }

  /** Allows no client. */
  static nobody(): NetworkAccess {
    return new NetworkAccess([]);
  }

  /**
   * Allows the clients that match one of the peers.
   *
   * @param peers The pods or addresses that may connect.
   */
  static peers(...peers: NetworkPeer[]): NetworkAccess {
    return buildIfValid(
      NetworkAccess.prototype,
      { peers },
      { peers: list(shape(types.NetworkPeer)) },
      () => new NetworkAccess(peers.map(peerSpec)),
    );
  }

  private constructor(private readonly allowed: 'any' | readonly NetworkPeerSpec[]) {}

  /**
   * Returns NetworkPolicyPeers.
   * @internal
   */
  _peers(): 'any' | object[] {
    return accessPeers(this._spec());
  }

  /** @internal */
  _spec(): NetworkAccessSpec {
    return this.allowed === 'any' ? { anywhere: true } : { peers: this.allowed };
  }

  /** @internal */
  _problems(what: string): string[] {
    return accessProblems(what, this._spec());
  }
}

/** Returns NetworkPolicyPeers. */
export const accessPeers = ({ anywhere, peers = [] }: NetworkAccessSpec): 'any' | object[] =>
  anywhere ? 'any' : peers.map(policyPeer);

/** Problems with the peers, each with its remedy. */
export const accessProblems = (what: string, access: NetworkAccessSpec = {}): string[] =>
  valueProblems(what, 'spec.networkAccess', access);

/** True if every pod of the cluster's namespace may connect. */
export const admitsNamespace = ({ anywhere, peers = [] }: NetworkAccessSpec): boolean =>
  anywhere === true || peers.some(selectsNamespace);

function selectsNamespace({ podLabels, namespace, namespaceLabels, cidr }: NetworkPeerSpec): boolean {
  const selectsAll = (labels = {}) => Object.keys(labels).length === 0;
  return cidr === undefined && namespace === undefined && selectsAll(podLabels) && selectsAll(namespaceLabels);
}

/** The peer as the resource has it. */
export const peerSpec = <Peer extends NetworkPeer>(peer: Peer) => withNames(peer, 'namespace');

/** Returns the NetworkPolicyPeer. */
export function policyPeer({ podLabels, namespace, namespaceLabels, cidr }: NetworkPeerSpec): object {
  if (cidr !== undefined) return { ipBlock: { cidr } };
  const labels = namespace === undefined ? namespaceLabels : { 'kubernetes.io/metadata.name': namespace };
  return {
    namespaceSelector: labels && selector(labels),
    podSelector: podLabels && selector(podLabels),
  };
}

const selector = (labels: { readonly [name: string]: string }) =>
  Object.keys(labels).length > 0 ? { matchLabels: labels } : {};

/** Returns the NetworkPolicyPorts. */
export const policyPorts = (ports: readonly number[], protocol = 'TCP'): object[] =>
  ports.map((port) => ({ port, protocol }));
