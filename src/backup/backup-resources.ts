import type { Size } from 'cdk8s';
import type { BackupPodSpec } from '../lib/backup-pod';

/**
 * Sets the CPU and memory of the backup pod. The memory that it needs does not grow with the database. A small CPU
 * limit makes a backup slower, but does not make it fail.
 */
export interface BackupResources {
  /**
   * Reserves CPU for the pod, in cores, such as `0.5`, or in thousandths of a core, such as `100m`.
   * @default - `cpuLimit`, else 100m
   */
  readonly cpuRequest?: string;
  /**
   * Limits the CPU, in cores, such as `0.5`, or in thousandths of a core, such as `100m`.
   * @default - `cpuRequest`, else 100m
   */
  readonly cpuLimit?: string;
  /**
   * Sets the amount of memory that the node reserves for the pod.
   * @default - `memoryLimit`, else 100Mi
   */
  readonly memoryRequest?: Size;
  /**
   * Limits the memory: the pod is killed if it uses more.
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
