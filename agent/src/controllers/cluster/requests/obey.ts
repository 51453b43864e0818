import { messageOf } from '../../../lib/errors.ts';
import type { ReportedRequest } from '../../../protocol/requests.ts';
import { act } from '../act.ts';
import { View } from '../plan/view.ts';
import type { Port } from '../port.ts';
import type { AtPoint, Pass } from '../reconcile.ts';
import type { Settings } from '../settings.ts';
import { decideRequests, type Step } from './decide.ts';

export interface Obeying {
  readonly port: Port;
  readonly settings: Settings;
  readonly signal: AbortSignal;
  readonly at?: AtPoint;
}

/**
 * Takes the next step of what annotations of the EtcdCluster request, after a pass and never beside its effect. Returns what the
 * status says of the requests; undefined: nothing is known of them.
 */
export async function obey(
  run: Obeying,
  { observed, plan }: Pick<Pass, 'observed' | 'plan'>,
  now: number,
): Promise<readonly ReportedRequest[] | undefined> {
  const view = new View(observed, now, run.settings);
  const decided = decideRequests(view, plan);
  const { step, reports } = decided ?? {};
  // The status says first what is about to happen, and nothing is done on an older observation.
  if (!step || !isTold(view, step) || run.port.lookAgain?.()) return reports;
  await run.at?.(`before Request.${step.effect.kind}`);
  const report = await carryOut(run, step);
  if (!report) return undefined;
  await run.at?.(`after Request.${step.effect.kind}`);
  return reports?.map((each) => (each.kind === report.kind ? report : each));
}

const isTold = ({ cluster }: View, { report: { kind, request, phase, message } }: Step): boolean =>
  cluster.status.requests?.some(
    (each) => each.kind === kind && each.request === request && each.phase === phase && each.message === message,
  ) ?? false;

/** A request has one try. Undefined: this process ends, and its successor begins with the step again. */
async function carryOut({ port, signal }: Obeying, step: Step): Promise<ReportedRequest | undefined> {
  const { report, effect, pod, size: before } = step;
  try {
    await act(effect, port);
    if (effect.kind === 'MoveLeader') return { ...report, phase: 'Completed', message: `${pod} leads` };
    const after = (await port.maintenance.status(effect.memberId)).dbSize;
    const members = [...(report.members ?? []), { pod, before, after }];
    return { ...report, message: `defragmented ${pod}`, members };
  } catch (error) {
    if (signal.aborted) return undefined;
    return { ...report, phase: 'Failed', message: `${report.message}: ${messageOf(error)}`.slice(0, 1024) };
  }
}
