import type { Size } from 'cdk8s';

/** CPU and memory of the reconciler. */
export interface ReconcilerResources {
  /**
   * In cores, such as `0.5`, or thousandths of a core, such as `50m`.
   * @default - `cpuLimit`, else 50m
   */
  readonly cpuRequest?: string;
  /**
   * In cores, such as `0.5`. Better none: a reconciler that is slowed down loses its Lease.
   * @default - no limit
   */
  readonly cpuLimit?: string;
  /**
   * The memory that the node sets aside.
   * @default - `memoryLimit`, else 128Mi
   */
  readonly memoryRequest?: Size;
  /**
   * The memory above which it is killed.
   * @default - `memoryRequest`, else 256Mi
   */
  readonly memoryLimit?: Size;
}

export function reconcilerRequirements({
  cpuRequest,
  cpuLimit,
  memoryRequest,
  memoryLimit,
}: ReconcilerResources): object {
  return {
    requests: {
      cpu: cpuRequest ?? cpuLimit ?? '50m',
      memory: (memoryRequest ?? memoryLimit)?.asString() ?? '128Mi',
    },
    limits: { cpu: cpuLimit, memory: (memoryLimit ?? memoryRequest)?.asString() ?? '256Mi' },
  };
}
