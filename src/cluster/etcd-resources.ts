import { Size } from 'cdk8s';
import { type Quantities, quantitiesProblems } from '../lib/quantities';
import { built } from '../validation/kinds';
import { resourcesKinds } from '../validation/property-kinds';

/** CPU and memory of one's own choice, for one member. */
export interface EtcdResourcesProps {
  /**
   * In cores, such as `0.5`, or thousandths of a core, such as `250m`.
   * @default - `cpuLimit`, else 250m
   */
  readonly cpuRequest?: string;
  /**
   * In cores, such as `2`. Better none: a member that is slowed down misses heartbeats, and the cluster elects another
   * leader.
   * @default - no limit
   */
  readonly cpuLimit?: string;
  /**
   * The memory that the node sets aside.
   * @default - `memoryLimit`, else 1Gi
   */
  readonly memoryRequest?: Size;
  /**
   * The memory above which a member is killed.
   * @default - `memoryRequest`, else 2Gi
   */
  readonly memoryLimit?: Size;
}

/**
 * CPU and memory of a member. None of the presets limits the CPU: a member that is slowed down misses heartbeats, and the
 * cluster elects another leader.
 *
 * The sizes SMALL to XLARGE are the machines of etcd's hardware guide (https://etcd.io/docs/v3.6/op-guide/hardware/). A
 * node must be a little larger, as Kubernetes keeps some of it for itself.
 */
export class EtcdResources {
  /** For a start: 250m CPU and 1Gi memory as request, 2Gi memory as limit. */
  static readonly DEFAULT = new EtcdResources({});
  /** 2 CPUs, 8Gi: fewer than 100 clients, 200 requests a second and 100 MB of data. */
  static readonly SMALL = EtcdResources.machine(2, 8);
  /** 4 CPUs, 16Gi: fewer than 500 clients, 1,000 requests a second and 500 MB of data. */
  static readonly MEDIUM = EtcdResources.machine(4, 16);
  /** 8 CPUs, 32Gi: fewer than 1,500 clients, 10,000 requests a second and 1 GB of data. */
  static readonly LARGE = EtcdResources.machine(8, 32);
  /** 16 CPUs, 64Gi: more than that. */
  static readonly XLARGE = EtcdResources.machine(16, 64);

  /** Other amounts. */
  static of(props: EtcdResourcesProps): EtcdResources {
    return built(EtcdResources.prototype, props, resourcesKinds, () => new EtcdResources(props));
  }

  private static machine(cpus: number, gibibytes: number): EtcdResources {
    return new EtcdResources({ cpuRequest: String(cpus), memoryLimit: Size.gibibytes(gibibytes) });
  }

  private constructor(private readonly amounts: Quantities) {}

  /** @internal */
  _requirements(): { requests: { cpu: string; memory: string }; limits: { cpu?: string; memory: string } } {
    const { cpuRequest, cpuLimit, memoryRequest, memoryLimit } = this.amounts;
    const memory = { request: memoryRequest?.asString(), limit: memoryLimit?.asString() };
    return {
      requests: { cpu: cpuRequest ?? cpuLimit ?? '250m', memory: memory.request ?? memory.limit ?? '1Gi' },
      limits: { cpu: cpuLimit, memory: memory.limit ?? memory.request ?? '2Gi' },
    };
  }

  /** @internal */
  _problems(): string[] {
    return quantitiesProblems(this.amounts);
  }
}
