import type { Size } from 'cdk8s';
import type { BackupPodSpec } from '../lib/backup-pod';

/**
 * CPU and memory of the backup pod. Memory does not grow with the database, and a small CPU limit makes a backup slower
 * but never fails it.
 */
export interface BackupResources {
  /**
   * In cores, such as `0.5`, or thousandths of a core, such as `100m`.
   * @default - `cpuLimit`, else 100m
   */
  readonly cpuRequest?: string;
  /**
   * In cores, such as `0.5`, or thousandths of a core, such as `100m`.
   * @default - `cpuRequest`, else 100m
   */
  readonly cpuLimit?: string;
  /**
   * The memory that the node sets aside.
   * @default - `memoryLimit`, else 100Mi
   */
  readonly memoryRequest?: Size;
  /**
   * The memory above which the pod is killed.
   * @default - `memoryRequest`, else 100Mi
   */
  readonly memoryLimit?: Size;
}

export function podResources({
  cpuRequest,
  cpuLimit,
  memoryRequest,
  memoryLimit,
}: BackupResources): BackupPodSpec['resources'] {
  const memory = { request: memoryRequest?.asString(), limit: memoryLimit?.asString() };
  return {
    requests: { cpu: cpuRequest ?? cpuLimit ?? '100m', memory: memory.request ?? memory.limit ?? '100Mi' },
    limits: { cpu: cpuLimit ?? cpuRequest ?? '100m', memory: memory.limit ?? memory.request ?? '100Mi' },
  };
}
