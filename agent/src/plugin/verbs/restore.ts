import { unlessMissing } from '../../kube/api-error.ts';
import { groupVersion } from '../../kube/paths.ts';
import { formatBytes } from '../../lib/terminal/progress.ts';
import { create } from '../change.ts';
import { Exit, PluginError, usage } from '../exit.ts';
import { duration, follow } from '../follow.ts';
import { type BackupObject, byTaken, type ClusterObject, type RestoreObject, takenAt } from '../objects.ts';
import type { Session } from '../session.ts';
import { isCurrent } from '../status/currency.ts';
import { readLease } from '../status/read.ts';
import { ageOf, isFuture, plain, wrap } from '../text.ts';
import { dryRunOption, option, type Verb, yesOption } from '../verb.ts';
import { timedName } from './backup.ts';

/** The phases of an EtcdRestore, in order. */
const restorePhases = [
  'Pending',
  'Verifying',
  'BackingUp',
  'Fencing',
  'Draining',
  'Restoring',
  'Regrowing',
  'Completed',
];

export const restore: Verb = {
  name: 'restore',
  args: '[name]',
  about: 'replace the data of a cluster by a backup (creates an EtcdRestore): shows what is lost, asks, and follows',
  options: [
    option('--backup <name>', 'a completed EtcdBackup'),
    option('--snapshot <id>', 'a snapshot in the first store of a schedule'),
    option(
      '--before <time>',
      'the newest verified snapshot before this time, such as 2026-11-21T02:30:00Z, in that store',
    ),
    option('--schedule <name>', 'the schedule, for --snapshot and --before (default: the only one)'),
    option('--identity-secret <name>', 'Secret with the age identities of an encrypted snapshot'),
    option('--no-safety-backup', 'do not back up the present data first'),
    option('--as <name>', 'name of the EtcdRestore (default: the cluster with the time)'),
    option('--no-wait', 'do not follow it'),
    yesOption,
    dryRunOption,
  ],
  async run({ args, flags, terminal, connect }) {
    const session = await connect();
    const cluster = await session.cluster(args[0]);
    const chosen = await chooseSource(session, cluster, flags);
    const name = (flags.as as string | undefined) ?? timedName(`${cluster.metadata.name}-restore`, session.now);
    const object = {
      apiVersion: groupVersion,
      kind: 'EtcdRestore',
      metadata: { name, namespace: session.namespace },
      spec: {
        clusterName: cluster.metadata.name,
        source: chosen.source,
        identitySecret: flags.identitySecret,
        safetyBackup: flags.safetyBackup === false ? false : undefined,
        // A person has agreed, so this is not an earlier EtcdRestore that was renamed.
        again: name,
      },
    };
    const target = { session, terminal, dryRun: flags.dryRun === true };
    if (!target.dryRun) {
      const lines = await warning(session, cluster, chosen, flags.safetyBackup !== false);
      terminal.note(lines.map((line) => wrap(line, terminal.width)).join('\n'));
      const asked = `Type the name of the cluster, ${cluster.metadata.name}, to replace its data: `;
      if (!flags.yes && (await terminal.ask(asked)) !== cluster.metadata.name)
        throw new PluginError(Exit.refused, 'nothing was changed');
    }
    if (!(await create(target, 'etcdrestores', object))) return Exit.done;
    const cancel = `until phase Fencing, ${session.commands.kubectl(`delete etcdrestore ${name}`)} takes it back`;
    const shown = `${session.commands.etcd(`status ${cluster.metadata.name} --watch`)} shows it; ${cancel}`;
    if (flags.wait === false) {
      terminal.print(`EtcdRestore ${name} is created; ${shown}`);
      return Exit.done;
    }
    const path = session.paths.of('etcdrestores', name);
    const ended = await follow<RestoreObject>({ session, terminal, path, share, progress: ({ status }) => status });
    if (!ended) {
      terminal.note(`EtcdRestore ${name} goes on; ${shown}`);
      return Exit.interrupted;
    }
    terminal.print(result(ended, session.commands.etcd(`backup ${cluster.metadata.name}`)));
    return ended.status?.phase === 'Completed' ? Exit.done : Exit.bad;
  },
};

interface Chosen {
  readonly source: object;
  /** The snapshot in words. */
  readonly what: string;
  /** Everything that was written after it is lost. */
  readonly after: string;
  /** Whose it is, if it is not a backup of this cluster, which then loses everything. */
  readonly other?: string | undefined;
  /** What cannot be said about it. */
  readonly note?: string;
}

async function chooseSource(
  session: Session,
  cluster: ClusterObject,
  flags: Readonly<Record<string, unknown>>,
): Promise<Chosen> {
  const { backup, snapshot, before } = flags as Readonly<Record<string, string | undefined>>;
  const given = [backup, snapshot, before].filter((each) => each !== undefined);
  if (given.length !== 1) throw usage(`give one of --backup, --snapshot and --before${await offers(session, cluster)}`);
  if (backup !== undefined) return ofBackup(session, backup, cluster.metadata.name);
  const { store, schedule } = storeOf(cluster, flags.schedule as string | undefined);
  if (snapshot !== undefined)
    return { source: { store, snapshotId: snapshot }, ...(await ofSnapshot(session, snapshot, cluster.metadata.name)) };
  const time = new Date(before!);
  if (Number.isNaN(time.getTime())) throw usage(`--before: '${before}' is not a time such as 2026-11-21T02:30:00Z`);
  const latestVerifiedBefore = time.toISOString().replace(/\.\d+/, '');
  return {
    source: { store, latestVerifiedBefore },
    ...(await ofNewest(session, cluster, schedule, latestVerifiedBefore)),
  };
}

/** The restore itself finds the newest, in the store. */
async function ofNewest(
  session: Session,
  cluster: ClusterObject,
  schedule: string,
  before: string,
): Promise<Omit<Chosen, 'source'>> {
  const { now } = session;
  const found = await session.optional(
    'etcdbackups',
    session.client.list<BackupObject>(session.paths.of('etcdbackups')),
  );
  const backups = (found?.items ?? [])
    .filter(({ spec, status }) => spec.clusterName === cluster.metadata.name && isThere(status))
    .map((each) => ({ ...each.spec, ...each.status, id: each.status?.snapshotId, at: takenAt(each, now) }));
  const gone = found?.items.filter(({ status }) => !isThere(status)).map(({ status }) => status?.snapshotId) ?? [];
  const newest = [...backups, ...(cluster.status?.lastBackup ? [cluster.status.lastBackup] : [])]
    .filter((each) => each.schedule === schedule && each.verified !== 'stream' && !gone.includes(each.id))
    .filter(({ at }) => Date.parse(at) < Date.parse(before) && !isFuture(at, now))
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))[0];
  const what = `the newest verified snapshot before ${before}`;
  if (newest)
    return {
      what: `${what}: of those known here, snapshot ${newest.id}`,
      after: `${newest.at} (${ageOf(newest.at, now)} ago), or after a later snapshot if the store has one`,
    };
  return {
    what,
    after: 'that snapshot was taken',
    note: `No EtcdBackup of schedule ${schedule} names a snapshot before then, so its time cannot be shown.`,
  };
}

async function ofBackup(session: Session, name: string, cluster: string): Promise<Chosen> {
  const found = await session.client.get<BackupObject>(session.paths.of('etcdbackups', name)).catch(unlessMissing);
  if (!found)
    throw new PluginError(
      Exit.notFound,
      `--backup: there is no EtcdBackup ${name} in the namespace ${session.namespace}`,
    );
  const { phase } = found.status ?? {};
  if (phase !== 'Completed')
    throw new PluginError(
      Exit.refused,
      `--backup: EtcdBackup ${name} is ${phase ?? 'Pending'}, so there is no snapshot to restore`,
    );
  return { source: { backupName: name }, ...described(found, cluster, session.now) };
}

const isThere = (status: BackupObject['status']): boolean =>
  status?.phase === 'Completed' && status.snapshotDeletedAt === undefined;

/** One that no EtcdBackup names may still be in the store, which only a pod with its credentials can read. */
async function ofSnapshot(session: Session, id: string, cluster: string): Promise<Omit<Chosen, 'source'>> {
  const found = await session.optional(
    'etcdbackups',
    session.client.list<BackupObject>(session.paths.of('etcdbackups')),
  );
  const backup = found?.items.find(({ status }) => status?.snapshotId === id);
  if (backup) return described(backup, cluster, session.now);
  const restores = await session.optional(
    'etcdrestores',
    session.client.list<RestoreObject>(session.paths.of('etcdrestores')),
  );
  const before = restores?.items.find(({ status }) => status?.safetyBackupId === id);
  if (before) return ofSafetyBackup(before, id, cluster, session.now);
  return {
    what: `snapshot ${id}`,
    after: 'the snapshot was taken, and all of it if the snapshot is of another cluster',
    note: `No EtcdBackup names this snapshot, so its time and its cluster cannot be shown. ${session.commands.etcd(`backups ${cluster}`)} lists those that are known here, and etcd-agent list, in a pod, what is in the store: docs/reference/agent.md#run-the-agent-in-a-pod`,
  };
}

const deletedAt = (time: string): string =>
  `Retention deleted this snapshot at ${time} in the first store of its run, so the restore fails, and changes nothing, unless you name another store in an EtcdRestore.`;

/** It was taken after the EtcdRestore was created. */
function ofSafetyBackup(
  { metadata, spec, status }: RestoreObject,
  id: string,
  cluster: string,
  now: number,
): Omit<Chosen, 'source'> {
  const time = metadata.creationTimestamp;
  return {
    what: `snapshot ${id}, the safety backup of EtcdRestore ${metadata.name}`,
    after: `${time} (${ageOf(time, now)} ago), or a little later`,
    note: status?.safetyBackupDeletedAt === undefined ? undefined : deletedAt(status.safetyBackupDeletedAt),
    other: spec.clusterName === cluster ? undefined : (spec.clusterName ?? 'one that no EtcdCluster describes'),
  };
}

function described(backup: BackupObject, cluster: string, now: number): Omit<Chosen, 'source'> {
  const { revision, sizeBytes, verified, snapshotId, snapshotDeletedAt } = backup.status ?? {};
  const facts = [
    snapshotId && `snapshot ${snapshotId}`,
    revision !== undefined && `revision ${revision}`,
    sizeBytes !== undefined && formatBytes(sizeBytes),
    verified && `verified: ${verified}`,
  ].filter(Boolean);
  const time = takenAt(backup, now);
  return {
    what: `EtcdBackup ${backup.metadata.name} (${facts.join(', ')})`,
    after: `${time} (${ageOf(time, now)} ago)`,
    other:
      backup.spec.clusterName === cluster
        ? undefined
        : (backup.spec.clusterName ?? 'one that no EtcdCluster describes'),
    note: snapshotDeletedAt === undefined ? undefined : deletedAt(snapshotDeletedAt),
  };
}

/** The newest backups, for a reader who has named none. */
async function offers(session: Session, cluster: ClusterObject): Promise<string> {
  const found = await session.optional(
    'etcdbackups',
    session.client.list<BackupObject>(session.paths.of('etcdbackups')),
  );
  const names = (found?.items ?? [])
    .filter(({ spec, status }) => spec.clusterName === cluster.metadata.name && isThere(status))
    .sort(byTaken(session.now))
    .slice(0, 5)
    .map((each) => `${each.metadata.name} (${ageOf(takenAt(each, session.now), session.now)} ago)`);
  return names.length > 0 ? `; the newest EtcdBackups: ${names.join(', ')}` : '; there is no completed EtcdBackup';
}

/** The first store of a schedule, where its snapshots are. */
function storeOf(
  { metadata, spec }: ClusterObject,
  wanted: string | undefined,
): { readonly store: object; readonly schedule: string } {
  const schedules = spec.backup?.schedules ?? [];
  const known = schedules.map(({ name }) => name).join(', ') || 'none';
  const found =
    wanted === undefined && schedules.length === 1 ? schedules[0] : schedules.find(({ name }) => name === wanted);
  const [first] = found?.stores ?? [];
  if (!found || !first)
    throw usage(`--schedule: name a schedule of ${metadata.name} whose store has the snapshot; known: ${known}`);
  const { retention: _, ...store } = first;
  return { store, schedule: found.name };
}

/** What the reader must know before agreeing. */
async function warning(session: Session, cluster: ClusterObject, chosen: Chosen, isSaved: boolean): Promise<string[]> {
  const current = isCurrent(cluster.status ?? {}, session.now, await readLease(session, cluster));
  return [
    `In ${session.where}:`,
    presentOf(cluster, current, session.now),
    ...losses(cluster.metadata.name, chosen),
    isSaved ? safety(cluster, current) : 'The present data is NOT backed up first.',
  ];
}

const losses = (name: string, { what, after, other, note }: Chosen): string[] => [
  `It gets the data of ${what}.`,
  ...(note ? [note] : []),
  ...(other
    ? [`That is a backup of another cluster, ${other}.`, `LOST is ALL present data of ${name}.`]
    : [`LOST is everything that was written after ${after}.`]),
  'Clients are cut off from phase Draining until the first member serves, just before phase Regrowing. From then on they can read and write.',
];

function presentOf({ metadata: { name }, status = {} }: ClusterObject, current: boolean, now: number): string {
  const state = `${status.phase ?? 'Unknown'} (${status.reason ?? '?'})`;
  if (current) return `${name} is now ${state}.`;
  if (!status.observedAt) return `How ${name} is now is not known, because no reconciler has reported yet.`;
  return `${name} was ${state} ${ageOf(status.observedAt, now)} ago. How it is now is not known.`;
}

/** Only a cluster that is known to have a quorum is surely backed up. */
function safety({ status = {} }: ClusterObject, current: boolean): string {
  const lost = status.conditions?.find(({ type }) => type === 'QuorumLost')?.status;
  if (!current || !lost || lost === 'Unknown')
    return 'It is not known whether the present data can be backed up first.';
  return lost === 'False'
    ? 'The present data is backed up first. LOST for good is what clients write after that backup was begun and before they are cut off, which takes seconds, or minutes with a large database: stop the writers first if that matters.'
    : 'The present data cannot be backed up first, because the quorum is lost.';
}

const share = ({ status }: RestoreObject): number =>
  Math.max(0, restorePhases.indexOf(status?.phase ?? 'Pending')) / (restorePhases.length - 1);

function result({ metadata, status = {} }: RestoreObject, backupCommand: string): string {
  const { phase, reason, message, snapshotId, safetyBackupId, startTime, completionTime } = status;
  if (phase !== 'Completed') return plain(`${metadata.name}: ${phase} (${reason}): ${message}`);
  const back = safetyBackupId ? `; the data before is snapshot ${safetyBackupId}` : '';
  return plain(
    `${metadata.name}: Completed in ${duration(startTime, completionTime)}: snapshot ${snapshotId}${back}; take a backup now: ${backupCommand}`,
  );
}
