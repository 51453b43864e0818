import type { Size } from 'cdk8s';
import type { ResourceAmounts, ResourcesSpec } from '../resource/types';

/**
 * Sets the CPU and memory of the pod of a backup or restore. What opens the database, that is VerificationLevel.OPEN and a
 * restore, needs memory for an index of all revisions of all keys. Otherwise the memory does not grow with the database. A
 * small CPU limit makes a backup slower, but does not make it fail.
 */
export interface BackupResources {
  /**
   * Reserves CPU for the pod, in cores, such as `0.5`, or in thousandths of a core, such as `100m`.
   * @default - `cpuLimit`, else 100m
   */
  readonly cpuRequest?: string;
  /**
   * Limits the CPU, in cores, such as `0.5`, or in thousandths of a core, such as `100m`.
   * @default - 100m, or 1 for a Job of the reconciler; `cpuRequest` if that is more
   */
  readonly cpuLimit?: string;
  /**
   * Sets the amount of memory that the node reserves for the pod.
   * @default - `memoryLimit`, else 100Mi, or 128Mi for what opens the database
   */
  readonly memoryRequest?: Size;
  /**
   * Limits the memory: the pod is killed if it uses more.
   * @default - `memoryRequest`, else 100Mi, or 1Gi for what opens the database; for a restore at least an eighth of the quota
   */
  readonly memoryLimit?: Size;
}

/** Returns the resources as a pod and the custom resources have them; undefined: none is given. */
export function givenResources(resources: BackupResources | undefined): ResourcesSpec | undefined {
  const { cpuRequest, cpuLimit, memoryRequest, memoryLimit } = resources ?? {};
  const requests = given(cpuRequest, memoryRequest);
  const limits = given(cpuLimit, memoryLimit);
  return (requests ?? limits) && { requests, limits };
}

function given(cpu: string | undefined, memory: Size | undefined): ResourceAmounts | undefined {
  return cpu === undefined && !memory ? undefined : { cpu, memory: memory?.asString() };
}

/** Properties of the fields of resources. */
export const resourcesPropNames = {
  'requests.cpu': 'cpuRequest',
  'requests.memory': 'memoryRequest',
  'limits.cpu': 'cpuLimit',
  'limits.memory': 'memoryLimit',
};
