import { type Size, SizeRoundingBehavior } from 'cdk8s';
import { problemsOf } from '../validation/problems';

/** Resource requests and limits of a container. */
export interface Quantities {
  readonly cpuRequest?: string;
  readonly cpuLimit?: string;
  readonly memoryRequest?: Size;
  readonly memoryLimit?: Size;
}

/** Problems with a container's resource requests and limits. */
export function quantitiesProblems({ cpuRequest, cpuLimit, memoryRequest, memoryLimit }: Quantities): string[] {
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
  return `resources: ${name} '${quantity}' is not a valid amount of CPU above zero; write it like 100m or 0.5`;
}

function memoryProblem(name: string, size: Size | undefined): string | undefined {
  if (!size || kibibytes(size)) return undefined;
  return `resources: ${name} is zero; give more, such as Size.mebibytes(100)`;
}

function above(name: string, request: number | undefined, limit: number | undefined): string | undefined {
  if (request === undefined || limit === undefined || request <= limit) return undefined;
  return `resources: ${name}Request is above ${name}Limit, so no pod can start; raise the limit or lower the request`;
}

/** Undefined: it is not a valid amount. */
export function milliCpu(quantity: string | undefined): number | undefined {
  const [, cores, thousandths] = /^(?:(\d+(?:\.\d{1,3})?)|(\d+)m)$/.exec(quantity ?? '') ?? [];
  if (thousandths !== undefined) return Number(thousandths);
  return cores === undefined ? undefined : Number(cores) * 1000;
}

function kibibytes(size: Size | undefined): number | undefined {
  return size?.toKibibytes({ rounding: SizeRoundingBehavior.NONE });
}
