import type { Size } from 'cdk8s';
import type { BackupPodSpec } from '../lib/backup-pod';

/**
 * CPU and memory of the backup pod. The memory that it needs does not grow with the database. A small CPU limit makes a
 * backup slower, but does not make it fail.
 */
export interface BackupResources {
  /**
   * CPU request in cores, such as `0.5`, or in thousandths of a core, such as `100m`.
   * @default - `cpuLimit`, else 100m
   */
  readonly cpuRequest?: string;
  /**
   * CPU limit in cores, such as `0.5`, or in thousandths of a core, such as `100m`.
   * @default - `cpuRequest`, else 100m
   */
  readonly cpuLimit?: string;
  /**
   * Memory request: the amount that the node reserves for the pod.
   * @default - `memoryLimit`, else 100Mi
   */
  readonly memoryRequest?: Size;
  /**
   * Memory limit: the pod is killed if it uses more.
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
