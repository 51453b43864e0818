import { formatBytes } from '../../lib/terminal/progress.ts';
import { table } from '../../lib/terminal/table.ts';
import { Exit } from '../exit.ts';
import { type BackupObject, byTaken, takenAt } from '../objects.ts';
import { ageOf, plain, shortAge, wrap } from '../text.ts';
import { outputOption, type Verb } from '../verb.ts';

export const backups: Verb = {
  name: 'backups',
  args: '[name]',
  about: 'list the EtcdBackups of a cluster, newest first, and its newest good backup',
  options: [outputOption],
  async run({ args, flags, terminal, connect }) {
    const session = await connect();
    const { metadata, spec, status = {} } = await session.cluster(args[0]);
    const { items } = await session.client.list<BackupObject>(session.paths.of('etcdbackups'));
    const ours = items.filter((each) => each.spec.clusterName === metadata.name).sort(byTaken(session.now));
    if (flags.output === 'json') {
      const listed = ours.map(({ metadata: { name, creationTimestamp }, status: of = {} }) => ({
        name,
        creationTimestamp,
        ...of,
      }));
      terminal.print(
        JSON.stringify({ cluster: metadata.name, lastBackup: status.lastBackup, backups: listed }, undefined, 2),
      );
      return Exit.done;
    }
    const { lastBackup } = status;
    const schedule = spec.backup?.schedules?.[0]?.name;
    const blocks = [
      ours.length > 0 ? rows(ours, session.now, terminal.width) : `${metadata.name} has no EtcdBackup`,
      lastBackup
        ? `Newest good backup: snapshot ${plain(lastBackup.id)}, ${ageOf(lastBackup.at, session.now)} ago`
        : 'No good backup is known.',
      wrap(
        `This is what the API server knows. What a store still has, etcd-agent list says in a pod with its credentials${schedule ? ` (those of CronJob ${metadata.name}-${schedule})` : ''}: docs/reference/agent.md#run-the-agent-in-a-pod`,
        terminal.width,
      ),
    ];
    terminal.print(blocks.join('\n\n'));
    return Exit.done;
  },
};

const rows = (ours: readonly BackupObject[], now: number, width: number): string => {
  const [header, ...lines] = table(
    ['NAME', 'PHASE', 'AGE', 'REVISION', 'SIZE', 'VERIFIED'],
    ours.map((each) => {
      const { metadata, status = {} } = each;
      return [
        metadata.name,
        status.snapshotDeletedAt === undefined ? (status.phase ?? 'Pending') : 'Deleted',
        shortAge(takenAt(each, now), now),
        String(status.revision ?? ''),
        status.sizeBytes === undefined ? '' : formatBytes(status.sizeBytes),
        status.verified ?? '',
      ].map(plain);
    }),
  ).split('\n');
  return [header, ...lines.flatMap((line, index) => [line, ...remark(ours[index]!, width)])].join('\n');
};

/** Why a backup is not complete, or no longer there. */
const remark = ({ status = {} }: BackupObject, width: number): string[] =>
  status.snapshotDeletedAt !== undefined
    ? [wrap(`retention deleted its snapshot at ${status.snapshotDeletedAt}`, width, '    ')]
    : status.phase === 'Completed' || !status.reason
      ? []
      : [wrap(`${status.reason}: ${status.message ?? ''}`, width, '    ')];
