import type { Edit, FaultKind } from './events.ts';
import type { World } from './world.ts';

/** One question to the model: where it starts, and what may happen. */
export interface Scenario {
  readonly name: string;
  readonly start: World;
  readonly faults: readonly FaultKind[];
  readonly edits: readonly Edit[];
  /** Observations may lack a part, or be too young to count. Default: yes. */
  readonly blurred?: boolean;
  /** Explored breadth first up to so many states. */
  readonly maxStates?: number;
}
