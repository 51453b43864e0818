import { groupVersion } from '../../kube/paths.ts';
import { formatBytes } from '../../lib/terminal/progress.ts';
import { create } from '../change.ts';
import { Exit, usage } from '../exit.ts';
import { duration, follow } from '../follow.ts';
import { type BackupObject, byAge, type ClusterObject } from '../objects.ts';
import type { Session } from '../session.ts';
import { isCurrent, oldness } from '../status/currency.ts';
import { readLease } from '../status/read.ts';
import { plain } from '../text.ts';
import { dryRunOption, option, type Verb } from '../verb.ts';

export const backup: Verb = {
  name: 'backup',
  args: '[name]',
  about: 'take a backup now (creates an EtcdBackup), follow it, and end with its result',
  options: [
    option('--schedule <name>', 'store it as this schedule does (default: the only schedule of the cluster)'),
    option('--as <name>', 'name of the EtcdBackup (default: the cluster with the time)'),
    option('--no-wait', 'do not follow it'),
    dryRunOption,
  ],
  async run({ args, flags, terminal, connect }) {
    const session = await connect();
    const cluster = await session.cluster(args[0]);
    const name = (flags.as as string | undefined) ?? timedName(cluster.metadata.name, session.now);
    const object = {
      apiVersion: groupVersion,
      kind: 'EtcdBackup',
      metadata: { name, namespace: session.namespace },
      spec: { clusterName: cluster.metadata.name, schedule: scheduleOf(cluster, flags.schedule as string | undefined) },
    };
    const shown = `${session.commands.etcd(`backups ${cluster.metadata.name}`)} shows it`;
    const target = { session, terminal, dryRun: flags.dryRun === true };
    if (!(await create(target, 'etcdbackups', object))) return Exit.done;
    if (flags.wait === false) {
      terminal.print(`EtcdBackup ${name} is created; ${shown}`);
      return Exit.done;
    }
    if (!isCurrent(cluster.status ?? {}, session.now, await readLease(session, cluster)))
      terminal.note(plain(oldness(cluster.status ?? {}, session.now)));
    const usual = await usualTime(session, cluster.metadata.name);
    const path = session.paths.of('etcdbackups', name);
    const share = (_: BackupObject, elapsed: number) => usual && Math.min(0.95, elapsed / usual);
    const ended = await follow<BackupObject>({ session, terminal, path, share, progress: ({ status }) => status });
    if (!ended) {
      terminal.note(`EtcdBackup ${name} goes on; ${shown}`);
      return Exit.interrupted;
    }
    terminal.print(result(ended));
    return ended.status?.phase === 'Completed' ? Exit.done : Exit.bad;
  },
};

/** The schedule that is meant. */
export function scheduleOf({ metadata, spec }: ClusterObject, wanted: string | undefined): string {
  const names = (spec.backup?.schedules ?? []).map(({ name }) => name);
  const known = `known: ${names.join(', ') || 'none'}`;
  if (wanted !== undefined) {
    if (!names.includes(wanted)) throw usage(`--schedule: ${metadata.name} has no schedule '${wanted}'; ${known}`);
    return wanted;
  }
  const [only, ...others] = names;
  if (only === undefined)
    throw usage(
      `${metadata.name} has no backup schedule that says where to store it; create an EtcdBackup with spec.store`,
    );
  if (others.length > 0) throw usage(`--schedule: name one, because ${metadata.name} has several; ${known}`);
  return only;
}

/** `orders-20261126-145400`. */
export const timedName = (cluster: string, now: number): string =>
  `${cluster}-${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}`;

/** Milliseconds that the last good backup took. Undefined: unknown. */
async function usualTime(session: Session, cluster: string): Promise<number | undefined> {
  const found = await session.optional(
    'etcdbackups',
    session.client.list<BackupObject>(session.paths.of('etcdbackups')),
  );
  const last = (found?.items ?? [])
    .filter(({ spec, status }) => spec.clusterName === cluster && status?.phase === 'Completed')
    .sort(byAge)
    .at(-1)?.status;
  const took = Date.parse(last?.completionTime ?? '') - Date.parse(last?.startTime ?? '');
  return took > 0 ? took : undefined;
}

function result({ metadata, status = {} }: BackupObject): string {
  const { phase, reason, message, startTime, completionTime, snapshotId, revision, sizeBytes, verified } = status;
  const facts = [
    snapshotId && `snapshot ${snapshotId}`,
    revision !== undefined && `revision ${revision}`,
    sizeBytes !== undefined && formatBytes(sizeBytes),
    verified && `verified: ${verified}`,
    `in ${duration(startTime, completionTime)}`,
  ].filter(Boolean);
  return plain(
    phase === 'Completed'
      ? `${metadata.name}: Completed: ${facts.join(', ')}`
      : `${metadata.name}: ${phase} (${reason}): ${message}`,
  );
}
