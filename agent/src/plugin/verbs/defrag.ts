import { Exit, PluginError } from '../exit.ts';
import { request } from '../maintenance/request.ts';
import { healthyVoterOf, refuseWithoutQuorum } from '../members.ts';
import { dryRunOption, option, type Verb } from '../verb.ts';

export const defrag: Verb = {
  name: 'defrag',
  args: '[member] [name]',
  about:
    'give the free space of the databases back to the volumes, member by member, the leader last (spec.maintenance.defragment), and follow it; member: its pod, ordinal or id, or all',
  options: [option('--no-wait', 'do not follow it'), dryRunOption],
  async run({ args: [wanted = 'all', name], flags, terminal, connect }) {
    const session = await connect();
    const cluster = await session.cluster(name);
    refuseWithoutQuorum(cluster, 'a member that is defragmented does not answer meanwhile');
    const ordinal = wanted === 'all' ? undefined : healthyVoterOf(cluster, wanted).ordinal;
    const absent = (cluster.status?.members ?? []).filter(({ healthy }) => !healthy);
    if (absent.length > 0)
      throw new PluginError(
        Exit.refused,
        `not healthy: ${absent.map(({ pod }) => pod).join(', ')}; a member that is defragmented does not answer meanwhile, so all others must; ${session.commands.etcd(`status ${cluster.metadata.name}`)} says why`,
      );
    return request({ session, terminal, flags, cluster, kind: 'defragment', ordinal });
  },
};
