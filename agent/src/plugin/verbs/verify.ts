import type { Container, JobObject, KubeObject, PodObject } from '../../kube/objects.ts';
import { ExitCode } from '../../lib/errors.ts';
import { create } from '../change.ts';
import { Exit, PluginError, usage } from '../exit.ts';
import { follow, type Progress } from '../follow.ts';
import { type BackupObject, byAge, type ClusterObject } from '../objects.ts';
import type { Session } from '../session.ts';
import { plain } from '../text.ts';
import { dryRunOption, option, type Verb } from '../verb.ts';
import { scheduleOf } from './backup.ts';

export const verify: Verb = {
  name: 'verify',
  args: '[name]',
  about: 'verify a stored backup: creates a Job from the CronJob of its schedule, follows it, and ends with its result',
  options: [
    option('--snapshot <id>', 'this one (default: the newest that the schedule is known to have stored)'),
    option('--schedule <name>', 'the schedule that stored it (default: the only schedule of the cluster)'),
    option('--store <number>', 'of several stores of the schedule, this one').default('1'),
    option('--level <level>', 'stream: it is there and complete; read: compare checksums; open: also open the database')
      .choices(['stream', 'read', 'open'])
      .default('read'),
    option('--identity-secret <name>', 'Secret with the age identities, to open an encrypted snapshot'),
    option('--no-wait', 'do not follow it'),
    dryRunOption,
  ],
  async run({ args, flags, terminal, connect }) {
    const session = await connect();
    const cluster = await session.cluster(args[0]);
    const schedule = scheduleOf(cluster, flags.schedule as string | undefined);
    const cronJob = await cronJobOf(session, cluster, schedule);
    const id = (flags.snapshot as string | undefined) ?? (await newestOf(session, cluster, schedule));
    const job = jobOf(cronJob, session, { ...(flags as unknown as Wanted), id });
    const { name } = job.metadata;
    if (!(await create({ session, terminal, dryRun: flags.dryRun === true }, 'jobs', job))) return Exit.done;
    if (flags.wait === false) {
      terminal.print(`Job ${name} is created; kubectl logs -n ${session.namespace} job/${name} shows it`);
      return Exit.done;
    }
    const path = session.paths.of('jobs', name);
    const ended = await follow<JobObject>({ session, terminal, path, progress });
    if (!ended) {
      terminal.note(`Job ${name} goes on; kubectl logs -n ${session.namespace} job/${name} shows it`);
      return Exit.interrupted;
    }
    const { exit, text } = await resultOf(session, ended);
    terminal.print(plain(text));
    return exit;
  },
};

interface Wanted {
  readonly id: string;
  readonly store: string;
  readonly level: string;
  readonly identitySecret?: string;
}

interface CronJobObject extends KubeObject {
  readonly spec: { readonly jobTemplate: { readonly spec: JobSpec } };
}

interface JobSpec {
  readonly template: {
    readonly metadata?: object;
    readonly spec: { readonly containers: readonly (Container & Mounting)[]; readonly volumes?: readonly object[] };
  };
}

interface Mounting {
  readonly volumeMounts?: readonly object[];
}

async function cronJobOf(
  session: Session,
  { metadata, spec }: ClusterObject,
  schedule: string,
): Promise<CronJobObject> {
  const settings = spec.backup?.schedules?.find(({ name }) => name === schedule);
  const name = settings?.cronJobName ?? `${metadata.name}-${schedule}`;
  return session.client.get<CronJobObject>(session.paths.of('cronjobs', name));
}

/** The newest snapshot that the schedule is known to have stored. */
async function newestOf(session: Session, { metadata, status }: ClusterObject, schedule: string): Promise<string> {
  const last = status?.lastBackup;
  if (last?.schedule === schedule) return last.id;
  const found = await session.optional(
    'etcdbackups',
    session.client.list<BackupObject>(session.paths.of('etcdbackups')),
  );
  const id = (found?.items ?? [])
    .filter(
      ({ spec, status: of }) =>
        spec.clusterName === metadata.name && spec.schedule === schedule && of?.phase === 'Completed' && of.snapshotId,
    )
    .sort(byAge)
    .at(-1)?.status?.snapshotId;
  if (id !== undefined) return id;
  throw new PluginError(
    Exit.notFound,
    `no backup of the schedule ${schedule} of ${metadata.name} is known; name one with --snapshot`,
  );
}

/** Seconds for which the Job stays when it is over: a day. */
const keep = 86_400;
const identities = { name: 'age-identities', mountPath: '/etc/etcd-agent/age-identities', readOnly: true };

/** The Job of the schedule, which verifies instead. The CronJob owns it but does not control it, so it counts as no run. */
function jobOf({ metadata, spec: { jobTemplate } }: CronJobObject, session: Session, wanted: Wanted) {
  const { template, ...rest } = jobTemplate.spec;
  const [container, ...others] = template.spec.containers;
  const { volumes = [] } = template.spec;
  if (!container) throw new PluginError(Exit.refused, `CronJob ${metadata.name} has no container to verify with`);
  const secret = wanted.identitySecret;
  const verifying = {
    ...container,
    args: argumentsOf(container, wanted),
    ...(secret && { volumeMounts: [...(container.volumeMounts ?? []), identities] }),
  };
  const volume = { name: identities.name, secret: { secretName: secret, defaultMode: 0o440 } };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `${metadata.name}-v${Math.floor(session.now / 1000).toString(36)}`,
      namespace: session.namespace,
      // Without the label of the cluster, by which the reconciler knows the backups of a schedule.
      labels: { 'app.kubernetes.io/name': 'etcd-backup-verification', 'app.kubernetes.io/managed-by': 'kubectl-etcd' },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: metadata.name, uid: metadata.uid }],
    },
    spec: {
      ...rest,
      backoffLimit: 0,
      ttlSecondsAfterFinished: keep,
      template: {
        ...template,
        spec: {
          ...template.spec,
          containers: [verifying, ...others],
          volumes: secret ? [...volumes, volume] : volumes,
        },
      },
    },
  };
}

/** Those of the backup that say where its snapshots are. */
function argumentsOf({ args = [] }: Container, { id, store, level, identitySecret }: Wanted): string[] {
  const given = (flag: string) => args.filter((each) => each.startsWith(`--${flag}=`));
  const stores = given('store');
  const chosen = stores[Number(store) - 1];
  if (chosen === undefined)
    throw usage(
      `--store: the schedule has ${stores.length === 1 ? 'one store' : `${stores.length} stores`}, not '${store}'`,
    );
  return [
    'verify',
    // Kubernetes replaces `$(NAME)` in arguments; `$$` stands for one dollar sign.
    id.replaceAll('$', '$$$$'),
    ...given('cluster'),
    ...given('namespace'),
    chosen,
    `--level=${level}`,
    ...(identitySecret ? [`--age-identity-file=${identities.mountPath}`] : []),
    '--output=json',
  ];
}

function progress({ status = {} }: JobObject): Progress {
  const over = status.conditions?.find(
    ({ type, status: is }) => is === 'True' && (type === 'Complete' || type === 'Failed'),
  );
  if (over) return { phase: over.type === 'Complete' ? 'Completed' : 'Failed' };
  return { phase: status.active ? 'Running' : 'Pending' };
}

interface Verified {
  readonly exitCode?: number;
  readonly error?: string;
  readonly snapshots?: readonly { readonly id: string; readonly outcome: string; readonly detail?: string }[];
}

/** What the pod left as its result; without one, what Kubernetes says. */
async function resultOf(session: Session, job: JobObject): Promise<{ exit: Exit; text: string }> {
  const { name, uid } = job.metadata;
  const labelSelector = `batch.kubernetes.io/job-name=${name}`;
  const found = await session.optional(
    'pods',
    session.client.list<PodObject>(session.paths.of('pods'), { labelSelector }),
  );
  // A pod of a node that was drained has been replaced, and a sidecar has no result.
  const agent = job.spec?.template?.spec.containers[0]?.name;
  const ended = (found?.items ?? [])
    .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
    .sort(byAge)
    .at(-1)
    ?.status?.containerStatuses?.find(({ name: of, state }) => of === agent && state?.terminated)?.state?.terminated;
  const { exitCode = ended?.exitCode, error, snapshots = [] } = parsed(ended?.message);
  const lines = snapshots.map(({ id, outcome, detail }) => `${id}: ${outcome}${detail ? `: ${detail}` : ''}`);
  if (progress(job).phase === 'Completed') return { exit: Exit.done, text: lines.join('; ') || `${name}: Completed` };
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
