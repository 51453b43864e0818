type WhenUnsatisfiable = 'DoNotSchedule' | 'ScheduleAnyway';

/**
 * How the members are spread over zones and nodes.
 *
 * Where nodes are required, a node that is down still counts, as an empty one: a pod that it lost stays Pending until the
 * node is back or its Node object is deleted, rather than to join another member on a node. With as many spare nodes as
 * may fail, nobody waits. A node whose taints keep the members away counts as an empty one too: with three members, two
 * nodes and a tainted third, one pod stays Pending until it tolerates the taint, or with `PREFERRED`.
 */
export class EtcdSpread {
  /** Over nodes always, as far as there are enough of them; over zones when possible. */
  static readonly DEFAULT = new EtcdSpread('ScheduleAnyway', 'DoNotSchedule');
  /** Over zones and nodes always. In a cluster without zones no pod would start. */
  static readonly REQUIRED_ZONES = new EtcdSpread('DoNotSchedule', 'DoNotSchedule');
  /** Over zones and nodes when possible. Two members on one node fail together. */
  static readonly PREFERRED = new EtcdSpread('ScheduleAnyway', 'ScheduleAnyway');
  /** Wherever the scheduler likes. */
  static readonly NONE = new EtcdSpread();

  private constructor(
    private readonly zones?: WhenUnsatisfiable,
    private readonly nodes?: WhenUnsatisfiable,
  ) {}

  /**
   * TopologySpreadConstraints of pods with these labels.
   * @internal
   */
  _constraints(labels: { readonly [name: string]: string }): object[] {
    const over = (topologyKey: string, whenUnsatisfiable?: WhenUnsatisfiable) =>
      whenUnsatisfiable ? [{ maxSkew: 1, topologyKey, whenUnsatisfiable, labelSelector: { matchLabels: labels } }] : [];
    return [...over('topology.kubernetes.io/zone', this.zones), ...over('kubernetes.io/hostname', this.nodes)];
  }
}
