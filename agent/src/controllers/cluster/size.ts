import { ordinals } from './names.ts';
import type { ClusterSpec } from './observed.ts';

/** Why a cluster can not have the size asked for; undefined: it can. */
export function sizeProblem({ size, allowEvenSize }: ClusterSpec): string | undefined {
  if (!ordinals.includes(size - 1)) return `size ${size}: possible are 1 to ${ordinals.length}`;
  if (size % 2 === 0 && !allowEvenSize) {
    return `size ${size}: an even size survives no more failures than ${size - 1}; say allowEvenSize if you mean it`;
  }
  return undefined;
}
