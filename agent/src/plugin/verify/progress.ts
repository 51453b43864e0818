import { mainContainer } from '../../kube/containers.ts';
import { Troubles } from '../../kube/event-reader.ts';
import type { JobObject, ObjectCondition, PodObject } from '../../kube/objects.ts';
import { creationProblem, isSilent, podProblem } from '../../kube/pod-problem.ts';
import { ExitCode } from '../../lib/errors.ts';
import { Exit } from '../exit.ts';
import type { ObservedProgress } from '../follow.ts';
import { byAge } from '../objects.ts';
import type { Session } from '../session.ts';

const ending = ({ status }: JobObject): ObjectCondition | undefined =>
  status?.conditions?.find(({ type, status: is }) => is === 'True' && (type === 'Complete' || type === 'Failed'));

/** How far a Job is. One whose pod does not start comes with the reason, in the words of Kubernetes. */
export function progressIn(session: Session): (job: JobObject) => Promise<ObservedProgress> {
  const events = new Troubles({ ...session, log: { debug: () => {} } });
  return async (job) => {
    const over = ending(job);
    if (over) return { phase: over.type === 'Complete' ? 'Completed' : 'Failed' };
    const pods = await podsOf(session, job);
    if (!pods) return { phase: job.status?.active ? 'Running' : 'Pending' };
    const pod = pods.find(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
    const problem = pod
      ? podProblem(pod, isSilent(pod) ? await events.of(pod.metadata.uid) : undefined)
      : pods.length === 0
        ? creationProblem(await events.of(job.metadata.uid))
        : undefined;
    // A pod that has ended counts as running until the Job says so.
    const runs = pod ? pod.status?.containerStatuses?.some(({ state }) => state?.running) : pods.length > 0;
    return { phase: runs ? 'Running' : 'Pending', ...problem };
  };
}

/** The pods of a Job, the newest last. Undefined: the user may not read them. */
async function podsOf(session: Session, { metadata: { name, uid } }: JobObject): Promise<PodObject[] | undefined> {
  const labelSelector = `batch.kubernetes.io/job-name=${name}`;
  const found = await session.optional(
    'pods',
    session.client.list<PodObject>(session.paths.of('pods'), { labelSelector }),
  );
  return found?.items
    .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
    .sort(byAge);
}

interface Verified {
  readonly exitCode?: number;
  readonly error?: string;
  readonly snapshots?: readonly { readonly id: string; readonly outcome: string; readonly detail?: string }[];
}

/** What the pod left as its result; without one, what Kubernetes says. */
export async function resultOf(session: Session, job: JobObject): Promise<{ exit: Exit; text: string }> {
  const { name } = job.metadata;
  // A pod of a node that was drained has been replaced, and a sidecar has no result.
  const agent = mainContainer(job.spec?.template?.spec.containers)?.name;
  const ended = ((await podsOf(session, job)) ?? [])
    .at(-1)
    ?.status?.containerStatuses?.find(({ name: of, state }) => of === agent && state?.terminated)?.state?.terminated;
  const { exitCode = ended?.exitCode, error, snapshots = [] } = parsed(ended?.message);
  const lines = snapshots.map(({ id, outcome, detail }) => `${id}: ${outcome}${detail ? `: ${detail}` : ''}`);
  if (ending(job)?.type === 'Complete') return { exit: Exit.done, text: lines.join('; ') || `${name}: Completed` };
  const why = error ?? (lines.join('; ') || kubernetesSays(job) || 'its pod left no result');
  const code = exitCode === undefined ? '' : ` (exit code ${exitCode} of the agent)`;
  return {
    exit: exitCode === ExitCode.nothingThere ? Exit.notFound : Exit.bad,
    text: `${name}: Failed: ${why}${code}`,
  };
}

function parsed(message = ''): Verified {
  try {
    return JSON.parse(message) as Verified;
  } catch {
    return message === '' ? {} : { error: message };
  }
}

const kubernetesSays = ({ status }: JobObject): string | undefined =>
  status?.conditions?.find(({ type }) => type === 'Failed')?.message;
