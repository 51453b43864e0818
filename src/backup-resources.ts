import { type Size, SizeRoundingBehavior } from 'cdk8s';
import type { BackupPodSpec } from './backup-pod';
import { problemsOf } from './names';

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

export function resourcesProblems({ cpuRequest, cpuLimit, memoryRequest, memoryLimit }: BackupResources): string[] {
  const problems = problemsOf(
    cpuProblem('cpuRequest', cpuRequest),
    cpuProblem('cpuLimit', cpuLimit),
    memoryProblem('memoryRequest', memoryRequest),
    memoryProblem('memoryLimit', memoryLimit),
  );
  if (problems.length > 0) return problems;
  return problemsOf(
    above('cpu', milliCpu(cpuRequest), milliCpu(cpuLimit)),
    above('memory', kibibytes(memoryRequest), kibibytes(memoryLimit)),
  );
}

function cpuProblem(name: string, quantity: string | undefined): string | undefined {
  if (quantity === undefined || milliCpu(quantity)) return undefined;
  return `resources: ${name} '${quantity}' is no amount of CPU above zero; write it like 100m or 0.5`;
}

function memoryProblem(name: string, size: Size | undefined): string | undefined {
  if (!size || kibibytes(size)) return undefined;
  return `resources: ${name} is zero; give more, such as Size.mebibytes(100)`;
}

function above(name: string, request: number | undefined, limit: number | undefined): string | undefined {
  if (request === undefined || limit === undefined || request <= limit) return undefined;
  return `resources: ${name}Request is above ${name}Limit, so no pod could start; raise the limit or lower the request`;
}

function milliCpu(quantity: string | undefined): number | undefined {
  const [, cores, thousandths] = /^(?:(\d+(?:\.\d{1,3})?)|(\d+)m)$/.exec(quantity ?? '') ?? [];
  if (thousandths !== undefined) return Number(thousandths);
  return cores === undefined ? undefined : Number(cores) * 1000;
}

function kibibytes(size: Size | undefined): number | undefined {
  return size?.toKibibytes({ rounding: SizeRoundingBehavior.NONE });
}
