import type { Edit, FaultKind } from './world/events.ts';
import type { World } from './world/world.ts';

/** One exploration: its start and what may happen. */
export interface Scenario {
  readonly name: string;
  readonly start: World;
  readonly faults: readonly FaultKind[];
  readonly edits: readonly Edit[];
  /** Observations may lack a part, or be too young to count. Default: yes. */
  readonly blurred?: boolean;
  /** Number of states that are explored, breadth first. */
  readonly maxStates?: number;
}
