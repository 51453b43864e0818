import { Size } from 'cdk8s';
import { givenResources } from '../backup/backup-resources';
import { completeResources } from '../lib/backup-pod';
import { defaults } from '../resource/defaults';
import type { ResourceAmounts, ResourcesSpec } from '../resource/types';
import * as types from '../validation/property-types';
import { buildIfValid } from '../validation/type-checks';

/** Sets the CPU and memory of one member, for `EtcdResources.of`. */
export interface EtcdResourcesProps {
  /**
   * Reserves CPU for the member, in cores, such as `0.5`, or in thousandths of a core, such as `250m`.
   * @default - `cpuLimit`, else 250m
   */
  readonly cpuRequest?: string;
  /**
   * Limits the CPU, in cores, such as `2`. Prefer no limit: a member that is throttled misses heartbeats, and the
   * cluster then elects another leader.
   * @default - no limit
   */
  readonly cpuLimit?: string;
  /**
   * Sets the amount of memory that the node reserves for the member.
   * @default - `memoryLimit`, else 1Gi
   */
  readonly memoryRequest?: Size;
  /**
   * Limits the memory: the member is killed if it uses more.
   * @default - `memoryRequest`, else 2Gi
   */
  readonly memoryLimit?: Size;
}

/**
 * Sets the CPU and memory of a member. No preset limits the CPU: a member that is throttled misses heartbeats, and the
 * cluster then elects another leader.
 *
 * The presets SMALL to XLARGE are the machines of etcd's hardware guide (https://etcd.io/docs/v3.6/op-guide/hardware/).
 * A node must be a little larger, because Kubernetes reserves a part of it.
 */
export class EtcdResources {
  /** Suffices to start with: it requests 250m CPU and 1Gi memory, and limits the memory to 2Gi. */
  static readonly DEFAULT = new EtcdResources({});
  /** Gives each member 2 CPUs and 8Gi: for fewer than 100 clients, 200 requests per second and 100 MB of data. */
  static readonly SMALL = EtcdResources.machine(2, 8);
  /** Gives each member 4 CPUs and 16Gi: for fewer than 500 clients, 1,000 requests per second and 500 MB of data. */
  static readonly MEDIUM = EtcdResources.machine(4, 16);
  /** Gives each member 8 CPUs and 32Gi: for fewer than 1,500 clients, 10,000 requests per second and 1 GB of data. */
  static readonly LARGE = EtcdResources.machine(8, 32);
  /** Gives each member 16 CPUs and 64Gi: for anything larger. */
  static readonly XLARGE = EtcdResources.machine(16, 64);

  /** Sets other amounts. */
  static of(props: EtcdResourcesProps): EtcdResources {
    return buildIfValid(EtcdResources.prototype, props, types.EtcdResourcesProps, () => new EtcdResources(props));
  }

  private static machine(cpus: number, gibibytes: number): EtcdResources {
    return new EtcdResources({ cpuRequest: String(cpus), memoryLimit: Size.gibibytes(gibibytes) });
  }

  private constructor(private readonly amounts: EtcdResourcesProps) {}

  /** @internal */
  _spec(): ResourcesSpec | undefined {
    return givenResources(this.amounts);
  }
}

/** Requests and limits of etcd, with the defaults. */
export const memberResources = (given: ResourcesSpec = {}) =>
  completeResources<ResourceAmounts & { readonly memory: string }>(given, defaults.EtcdClusterSpec.resources);
