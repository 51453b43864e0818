import type { ReportedMember } from '../../protocol/cluster-status.ts';
import type { Op } from '../../protocol/record.ts';
import type { Observed } from '../port/observed.ts';
import type { ReconcilerSettings } from '../port/settings.ts';
import { membersOf } from './conditions/status.ts';
import { View } from './engine/view.ts';

/** What a pass has observed that the status does not contain, or only roughly. */
export interface PassFacts {
  /** Null: none is in progress. Undefined: unknown, because the record could not be read. */
  readonly operation: Pick<Op, 'kind' | 'startedAt'> | null | undefined;
  /** Empty while the record is not known. */
  readonly members: readonly ReportedMember[];
}

export function passFacts(observed: Observed, now: number, settings: ReconcilerSettings): PassFacts {
  const { record, cluster } = observed;
  if (!record.known) return { operation: undefined, members: [] };
  const isKnown = record.v !== undefined && cluster.known && cluster.v !== undefined;
  return {
    operation: record.v?.doc.op ?? null,
    members: isKnown ? membersOf(new View(observed, now, settings)) : [],
  };
}
