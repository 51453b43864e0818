import { defaults } from '../resource/defaults';
import type { EtcdClusterSpec } from '../resource/types';

type SpreadSpec = NonNullable<EtcdClusterSpec['spread']>;
type WhenUnsatisfiable = SpreadSpec['zones'];

/**
 * Decides how the members are spread over zones and nodes.
 *
 * If spreading over nodes is required, a node that is down still counts as an empty node. A pod of that node stays
 * Pending until the node is back or its Node object is deleted; it does not start on a node that already has a member.
 * To avoid the wait, have as many spare nodes as may fail. A node with taints that the members do not tolerate counts
 * as an empty node too: with three members, two usable nodes and one tainted node, one pod stays Pending. Let the pods
 * tolerate the taint, or use `PREFERRED`.
 */
export class EtcdSpread {
  /** Spreads the members over nodes always, as far as there are enough of them, and over zones if possible. */
  static readonly DEFAULT = new EtcdSpread('ScheduleAnyway', 'DoNotSchedule');
  /** Requires the members to be spread over zones and nodes. In a Kubernetes cluster without zones no pod can start. */
  static readonly REQUIRED_ZONES = new EtcdSpread('DoNotSchedule', 'DoNotSchedule');
  /** Spreads the members over zones and nodes if possible. Two members on one node fail together. */
  static readonly PREFERRED = new EtcdSpread('ScheduleAnyway', 'ScheduleAnyway');
  /** Sets no constraints: the scheduler chooses any node. */
  static readonly NONE = new EtcdSpread();

  private constructor(
    private readonly zones?: WhenUnsatisfiable,
    private readonly nodes?: WhenUnsatisfiable,
  ) {}

  /** @internal */
  _spec(): SpreadSpec {
    return { zones: this.zones, nodes: this.nodes };
  }
}

/** Returns the TopologySpreadConstraints of pods with these labels. */
export function spreadConstraints(
  { zones, nodes }: SpreadSpec = defaults.EtcdClusterSpec.spread,
  labels: { readonly [name: string]: string },
): object[] {
  const over = (topologyKey: string, whenUnsatisfiable?: WhenUnsatisfiable) =>
    whenUnsatisfiable ? [{ maxSkew: 1, topologyKey, whenUnsatisfiable, labelSelector: { matchLabels: labels } }] : [];
  return [...over('topology.kubernetes.io/zone', zones), ...over('kubernetes.io/hostname', nodes)];
}
