import type { Draw } from './draw';
import type { Stage } from './stage';

/** Draws one of its kind. */
export type Fault = (draw: Draw) => DrawnFault;

export interface DrawnFault {
  /** In words, with all that was drawn. */
  readonly what: string;
  /** Brings it about, and waits until the cluster has begun to act on it; where it holds something away, it gives it back. */
  run(stage: Stage): Promise<unknown>;
}
