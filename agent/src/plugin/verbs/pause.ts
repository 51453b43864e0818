import { patch } from '../change.ts';
import { Exit } from '../exit.ts';
import type { Session } from '../session.ts';
import { dryRunOption, type Verb } from '../verb.ts';

const paused = (
  name: string,
  value: boolean,
  about: string,
  said: (session: Session, cluster: string) => string,
): Verb => ({
  name,
  args: '[name]',
  about,
  options: [dryRunOption],
  async run({ args, flags, terminal, connect }) {
    const session = await connect();
    const { metadata } = await session.cluster(args[0]);
    const dryRun = flags.dryRun === true;
    const sent = await patch({ session, terminal, dryRun }, 'etcdclusters', metadata.name, { spec: { paused: value } });
    if (sent) terminal.print(`${metadata.name}: ${said(session, metadata.name)}`);
    return Exit.done;
  },
});

export const pause = paused(
  'pause',
  true,
  'stop all changes by the reconciler (spec.paused); the members go on serving',
  ({ commands }, cluster) =>
    `paused. Members serve, and nothing is replaced, restarted or renewed until ${commands.etcd(`resume ${cluster}`)}`,
);

export const resume = paused(
  'resume',
  false,
  'end a pause; an operation that was interrupted goes on',
  () => 'resumed. If GitOps manages the cluster, remove paused there, too',
);
