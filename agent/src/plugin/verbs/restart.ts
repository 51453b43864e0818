import { patch } from '../change.ts';
import { Exit } from '../exit.ts';
import { refuseWithoutQuorum } from '../members.ts';
import { dryRunOption, type Verb } from '../verb.ts';

export const restart: Verb = {
  name: 'restart',
  args: '[name]',
  about: 'restart all members one by one, the leader last, as kubectl rollout restart does',
  options: [dryRunOption],
  async run({ args, flags, terminal, connect }) {
    const session = await connect();
    const cluster = await session.cluster(args[0]);
    const { metadata, spec } = cluster;
    refuseWithoutQuorum(cluster, 'a restart could lose its last writes');
    // What `kubectl rollout restart` writes. The reconciler follows each change of the template.
    const annotations = {
      'kubectl.kubernetes.io/restartedAt': new Date(session.now).toISOString().replace(/\.\d+/, ''),
    };
    const body = { spec: { template: { metadata: { annotations } } } };
    const sent = await patch({ session, terminal, dryRun: flags.dryRun === true }, 'statefulsets', metadata.name, body);
    if (sent)
      terminal.print(
        spec.paused
          ? `${metadata.name}: the restart begins after ${session.commands.etcd(`resume ${metadata.name}`)}, because the cluster is paused`
          : `${metadata.name}: the members are restarted one by one; ${session.commands.etcd(`status ${metadata.name} --watch`)} shows it`,
      );
    return Exit.done;
  },
};
