import type { ReportedMember } from '../../protocol/cluster-status.ts';
import { Exit, PluginError } from '../exit.ts';
import { request } from '../maintenance/request.ts';
import { healthyVoterOf, isVoter, refuseWithoutQuorum } from '../members.ts';
import type { ClusterObject } from '../objects.ts';
import { isCurrent } from '../status/currency.ts';
import { readLease } from '../status/read.ts';
import { plain } from '../text.ts';
import { dryRunOption, option, type Verb } from '../verb.ts';

export const moveLeader: Verb = {
  name: 'move-leader',
  args: '[member] [name]',
  about:
    'make another member the leader (spec.maintenance.moveLeader), and follow it; member: its pod, ordinal or id, or any',
  options: [option('--no-wait', 'do not follow it'), dryRunOption],
  async run({ args: [wanted = 'any', name], flags, terminal, connect }) {
    const session = await connect();
    const cluster = await session.cluster(name);
    refuseWithoutQuorum(cluster, 'only a quorum has a leader');
    const { status = {} } = cluster;
    const { pod, role, ordinal } = wanted === 'any' ? anyOther(cluster) : healthyVoterOf(cluster, wanted);
    // A status that nobody keeps up to date does not say who leads now.
    if (role === 'Leader' && isCurrent(status, session.now, await readLease(session, cluster))) {
      terminal.print(plain(`${pod} is the leader already`));
      return Exit.done;
    }
    return request({ session, terminal, flags, cluster, kind: 'moveLeader', ordinal });
  },
};

/** The healthy voter that lags least. */
function anyOther({ metadata, status = {} }: ClusterObject): ReportedMember {
  const others = (status.members ?? []).filter((each) => isVoter(each) && each.role !== 'Leader' && each.healthy);
  const [best] = others.sort((a, b) => (a.lag ?? Infinity) - (b.lag ?? Infinity));
  if (best) return best;
  throw new PluginError(Exit.refused, `${metadata.name} has no other voting member that is healthy`);
}
