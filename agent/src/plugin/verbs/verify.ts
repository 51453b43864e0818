import { cronJobOf } from '../../../../src/etcd/schedule-names.ts';
import type { JobObject } from '../../kube/objects.ts';
import { create } from '../change.ts';
import { Exit, PluginError } from '../exit.ts';
import { follow } from '../follow.ts';
import { type BackupObject, byAge, type ClusterObject } from '../objects.ts';
import type { Session } from '../session.ts';
import { plain } from '../text.ts';
import { dryRunOption, option, type Verb } from '../verb.ts';
import { type CronJobObject, jobOf, type WantedVerification } from '../verify/job.ts';
import { progressIn, resultOf } from '../verify/progress.ts';
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
    const cronJob = await cronJobObject(session, cluster, schedule);
    const id = (flags.snapshot as string | undefined) ?? (await newestOf(session, cluster, schedule));
    const job = jobOf(cronJob, session, { ...(flags as unknown as WantedVerification), id });
    const { name } = job.metadata;
    if (!(await create({ session, terminal, dryRun: flags.dryRun === true }, 'jobs', job))) return Exit.done;
    if (flags.wait === false) {
      terminal.print(`Job ${name} is created; ${session.commands.kubectl(`logs job/${name}`)} shows it`);
      return Exit.done;
    }
    const path = session.paths.of('jobs', name);
    const ended = await follow<JobObject>({ session, terminal, path, progress: progressIn(session) });
    if (!ended) {
      terminal.note(`Job ${name} goes on; ${session.commands.kubectl(`logs job/${name}`)} shows it`);
      return Exit.interrupted;
    }
    const { exit, text } = await resultOf(session, ended);
    terminal.print(plain(text));
    return exit;
  },
};

async function cronJobObject(
  session: Session,
  { metadata, spec }: ClusterObject,
  schedule: string,
): Promise<CronJobObject> {
  const settings = spec.backup?.schedules?.find(({ name }) => name === schedule);
  const name = cronJobOf(metadata.name, settings ?? { name: schedule });
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
