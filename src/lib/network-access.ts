import { isIP } from 'node:net';
import { built } from '../validation/kinds';
import { nameProblem } from '../validation/names';
import { peersKinds } from '../validation/property-kinds';
import { labelProblems } from './labels';

/** Pods or addresses that may connect. */
export interface NetworkPeer {
  /**
   * Pods with these labels; `{}` means every pod.
   * @default - every pod of the namespaces that are named
   */
  readonly podLabels?: { readonly [name: string]: string };
  /**
   * Pods of this namespace.
   * @default - the cluster's own namespace, unless `namespaceLabels` is given
   */
  readonly namespace?: string;
  /**
   * Pods of the namespaces with these labels; `{}` means every namespace.
   * @default - the cluster's own namespace, unless `namespace` is given
   */
  readonly namespaceLabels?: { readonly [name: string]: string };
  /**
   * Addresses, such as `10.0.0.0/8`: for clients that are no pods. Stands alone.
   * @default - none
   */
  readonly cidr?: string;
}

/** Who may connect. It takes effect where the network plugin enforces NetworkPolicies. */
export class NetworkAccess {
  /** Every pod of the cluster's own namespace. */
  static sameNamespace(): NetworkAccess {
    return new NetworkAccess([{ podLabels: {} }]);
  }

  /** Everybody who reaches the pods, from other namespaces and from outside too. */
  static anywhere(): NetworkAccess {
    return new NetworkAccess('any');
  }

  /** Nobody. */
  static nobody(): NetworkAccess {
    return new NetworkAccess([]);
  }

  /** These. */
  static from(...peers: NetworkPeer[]): NetworkAccess {
    return built(NetworkAccess.prototype, { peers }, peersKinds, () => new NetworkAccess(peers));
  }

  private constructor(private readonly allowed: 'any' | readonly NetworkPeer[]) {}

  /**
   * NetworkPolicyPeers.
   * @internal
   */
  _peers(): 'any' | object[] {
    return this.allowed === 'any' ? 'any' : this.allowed.map(policyPeer);
  }

  /** @internal */
  _problems(what: string): string[] {
    return this.allowed === 'any' ? [] : this.allowed.flatMap(peerProblems).map((problem) => `${what}: ${problem}`);
  }
}

function policyPeer({ podLabels, namespace, namespaceLabels, cidr }: NetworkPeer): object {
  if (cidr !== undefined) return { ipBlock: { cidr } };
  const labels = namespace === undefined ? namespaceLabels : { 'kubernetes.io/metadata.name': namespace };
  return {
    ...(labels && { namespaceSelector: selector(labels) }),
    ...(podLabels && { podSelector: selector(podLabels) }),
  };
}

const selector = (labels: { readonly [name: string]: string }) =>
  Object.keys(labels).length > 0 ? { matchLabels: labels } : {};

function peerProblems(peer: NetworkPeer): string[] {
  const problem = peerProblem(peer);
  if (problem) return [problem];
  return [...labelProblems('podLabels', peer.podLabels), ...labelProblems('namespaceLabels', peer.namespaceLabels)];
}

function peerProblem({ podLabels, namespace, namespaceLabels, cidr }: NetworkPeer): string | undefined {
  const pods = podLabels ?? namespace ?? namespaceLabels;
  if (cidr === undefined && pods === undefined) {
    return 'a peer names nobody; give podLabels, namespace, namespaceLabels or cidr';
  }
  if (cidr !== undefined && pods !== undefined) {
    return `cidr '${cidr}' cannot be combined with pods or namespaces; make two peers of it`;
  }
  if (namespace !== undefined && namespaceLabels) {
    return `namespace '${namespace}' cannot be combined with namespaceLabels; remove one`;
  }
  if (cidr !== undefined && !isRange(cidr)) return `cidr '${cidr}' is no range of addresses; write it like 10.0.0.0/8`;
  return namespace === undefined ? undefined : nameProblem('namespace', namespace, 63);
}

function isRange(cidr: string): boolean {
  const [, address = '', prefix] = /^([^/]+)\/(\d{1,3})$/.exec(cidr) ?? [];
  return prefix !== undefined && isIP(address) > 0 && Number(prefix) <= (isIP(address) === 4 ? 32 : 128);
}
