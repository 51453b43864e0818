import { ordinals } from './names.ts';
import type { ClusterSpec } from './observed.ts';

/** Why a cluster cannot have the size of its spec; undefined: it can. */
export function sizeProblem({ size, allowEvenSize }: ClusterSpec): string | undefined {
  if (!ordinals.includes(size - 1)) return `size ${size} is not valid; use 1 to ${ordinals.length}`;
  if (size % 2 === 0 && !allowEvenSize) {
    return `size ${size}: an even size survives no more failures than ${size - 1}; set allowEvenSize to use it anyway`;
  }
  return undefined;
}
