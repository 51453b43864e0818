import type { EventOf } from '../../../kube/events.ts';
import type { ClusterStatus } from '../../../protocol/cluster-status.ts';
import { isRequestOver } from '../../../protocol/requests.ts';

/** Returns an Event for each request that is now over. */
export const requestEvents = (before: Partial<ClusterStatus> | undefined, now: ClusterStatus): EventOf[] =>
  (now.requests ?? []).flatMap((each): EventOf[] => {
    const { kind, request, phase, message } = each;
    const old = before?.requests?.find((one) => one.kind === kind && one.request === request);
    if (!isRequestOver(each) || (old && isRequestOver(old))) return [];
    return phase === 'Failed'
      ? [{ type: 'Warning', reason: 'RequestFailed', message: `${kind}: ${message}` }]
      : [{ type: 'Normal', reason: 'RequestCompleted', message: `${kind}: ${message}` }];
  });
