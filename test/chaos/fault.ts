import type { Draw } from './draw';
import type { Stage } from './stage';

/** Draws one of its kind. */
export type Fault = (draw: Draw) => DrawnFault;

export interface DrawnFault {
  /** Description with all drawn values. */
  readonly what: string;
  /** Causes the fault, and waits until the cluster has begun to react. If it takes something away, it returns it. */
  run(stage: Stage): Promise<unknown>;
}
