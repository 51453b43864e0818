import type { Manifest } from '../../synth';
import type { Namespace } from './namespace';

/** The end of a Job. */
export interface Outcome {
  readonly succeeded: boolean;
  /** Reason of the failure, as given by the Job controller. */
  readonly reason?: string;
  readonly pods: readonly PodEnd[];
}

export interface PodEnd {
  readonly name: string;
  readonly exitCode: number;
  /** Reason of Kubernetes: Completed, Error, OOMKilled. */
  readonly reason: string;
  readonly terminationMessage: string;
}

/** Starts a run of a CronJob by hand, as a user does. */
export async function startNow(namespace: Namespace, cronJob: string, job: string): Promise<void> {
  await namespace.kubectl(['create', 'job', job, `--from=cronjob/${cronJob}`]);
}

export async function outcomeOf(namespace: Namespace, job: string, seconds = 300): Promise<Outcome> {
  const end = await namespace.until(`the end of job ${job}`, seconds, async () => {
    const { status } = await namespace.get('job', job);
    return status.conditions?.find(
      ({ type, status }: Manifest) => ['Complete', 'Failed'].includes(type) && status === 'True',
    );
  });
  const { items } = await namespace.get('pods', `--selector=job-name=${job}`);
  return { succeeded: end.type === 'Complete', reason: end.reason, pods: items.map(podEnd) };
}

export async function runNow(namespace: Namespace, cronJob: string, job: string): Promise<Outcome> {
  await startNow(namespace, cronJob, job);
  return outcomeOf(namespace, job);
}

export function podEnd(pod: Manifest): PodEnd {
  const { terminated } = pod.status.containerStatuses[0].state;
  const { exitCode, reason, message = '' } = terminated ?? {};
  return { name: pod.metadata.name, exitCode, reason, terminationMessage: message };
}

export async function lastLogLine(namespace: Namespace, pod: string): Promise<string> {
  const { stdout } = await namespace.kubectl(['logs', pod]);
  return stdout.trimEnd().split('\n').at(-1) ?? '';
}

export interface AgentRun {
  /** Index of the schedule's store, from 0. */
  readonly store: number;
  readonly args: readonly string[];
  readonly volumes?: readonly object[];
  readonly volumeMounts?: readonly object[];
}

/** Runs another command of the agent in the pod of a backup: same image, limits, cluster and store. Returns its result. */
export async function runAgent(namespace: Namespace, cronJob: string, job: string, run: AgentRun): Promise<Manifest> {
  const { spec } = await namespace.get('cronjob', cronJob);
  await namespace.apply([agentJob(job, spec.jobTemplate.spec.template.spec, run)]);
  const { succeeded, pods } = await outcomeOf(namespace, job);
  if (!succeeded) throw new Error(`${run.args.join(' ')}: ${JSON.stringify(pods)}`);
  return JSON.parse(pods[0]!.terminationMessage);
}

function agentJob(name: string, pod: Manifest, { store, args, volumes = [], volumeMounts = [] }: AgentRun): Manifest {
  const [container] = pod.containers;
  const flags = (flag: string) => container.args.filter((argument: string) => argument.startsWith(`--${flag}=`));
  const containers = [
    {
      ...container,
      args: [...args, ...flags('cluster'), ...flags('output'), flags('store')[store]],
      volumeMounts: [...container.volumeMounts, ...volumeMounts],
    },
  ];
  const spec = { ...pod, containers, volumes: [...pod.volumes, ...volumes] };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: { backoffLimit: 0, template: { spec } },
  };
}
