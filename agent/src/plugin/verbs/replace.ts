import type { ReportedMember } from '../../protocol/cluster-status.ts';
import { patch } from '../change.ts';
import { Exit, PluginError } from '../exit.ts';
import { memberOf } from '../members.ts';
import type { ClusterObject } from '../objects.ts';
import { plain } from '../text.ts';
import { dryRunOption, option, type Verb, yesOption } from '../verb.ts';

export const replace: Verb = {
  name: 'replace',
  args: '<member> [name]',
  about: 'remove a member and let its pod join again as a new one (spec.replace.force); member: its pod, ordinal or id',
  options: [
    option('--discard-volume', 'also delete its PersistentVolumeClaim, for a volume that is lost with its node'),
    yesOption,
    dryRunOption,
  ],
  async run({ args: [wanted = '', name], flags, terminal, connect }) {
    const session = await connect();
    const cluster = await session.cluster(name);
    const { ordinal, pod, memberId, ...member } = memberToReplace(cluster, wanted);
    const discardVolume = flags.discardVolume === true;
    const entry = { ordinal, memberId: memberId!, discardVolume: discardVolume || undefined };
    const force = [...(cluster.spec.replace?.force ?? []).filter((each) => each.ordinal !== ordinal), entry];
    // The list replaces the one that was read, so that one must not have changed.
    const { resourceVersion } = cluster.metadata;
    const body = { metadata: { resourceVersion }, spec: { replace: { force } } };
    const target = { session, terminal, dryRun: flags.dryRun === true };
    if (!flags.yes && !target.dryRun) {
      const others = (cluster.status?.members ?? []).filter((each) => each.ordinal !== ordinal && !each.healthy);
      terminal.note(
        [
          `In ${session.where}:`,
          `${pod} (id ${memberId}, ${member.role ?? 'role unknown'}, ${member.healthy ? 'healthy' : 'not healthy'}) is removed, and joins again with a new id.`,
          discardVolume ? `Its claim data-${pod} is DELETED.` : 'Its data is moved to quarantine/ on its volume.',
          ...(others.length > 0
            ? [
                `Not healthy either: ${others.map((each) => each.pod).join(', ')}. The reconciler waits until the rest is a healthy quorum.`,
              ]
            : []),
        ]
          .map(plain)
          .join('\n'),
      );
      if ((await terminal.ask('Replace it? (yes/no) ')) !== 'yes')
        throw new PluginError(Exit.refused, 'nothing was changed');
    }
    if (await patch(target, 'etcdclusters', cluster.metadata.name, body))
      terminal.print(
        plain(
          `${pod}: its replacement is requested; ${session.commands.etcd(`status ${cluster.metadata.name} --watch`)} shows it. The entry in spec.replace.force may stay`,
        ),
      );
    return Exit.done;
  },
};

function memberToReplace(cluster: ClusterObject, wanted: string): ReportedMember {
  const found = memberOf(cluster, wanted);
  if (!found.memberId)
    throw new PluginError(Exit.refused, `${found.pod} is not a member of etcd now, so there is nothing to replace`);
  return found;
}
