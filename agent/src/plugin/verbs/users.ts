import { table } from '../../lib/terminal/table.ts';
import { Exit } from '../exit.ts';
import type { UserObject } from '../objects.ts';
import { isCurrent, oldness } from '../status/currency.ts';
import { readLease } from '../status/read.ts';
import { plain, wrap } from '../text.ts';
import { outputOption, type Verb } from '../verb.ts';

export const users: Verb = {
  name: 'users',
  args: '[name]',
  about: 'list the EtcdUsers of a cluster, and why one is not ready',
  options: [outputOption],
  async run({ args, flags, terminal, connect }) {
    const session = await connect();
    const cluster = await session.cluster(args[0]);
    const { metadata, status = {} } = cluster;
    const { items } = await session.client.list<UserObject>(session.paths.of('etcdusers'));
    const ours = items.filter(({ spec }) => spec.clusterName === metadata.name);
    const auth = status.conditions?.find(({ type }) => type === 'AuthReady');
    const current = isCurrent(status, session.now, await readLease(session, cluster));
    if (flags.output === 'json') {
      const listed = ours.map(({ metadata: { name }, spec, status: of }) => ({ name, ...spec, ...of }));
      terminal.print(JSON.stringify({ cluster: metadata.name, current, auth, users: listed }, undefined, 2));
      return Exit.done;
    }
    terminal.print(
      [
        ...(current ? [] : [wrap(oldness(status, session.now), terminal.width)]),
        ours.length > 0 ? rows(ours, terminal.width) : `${metadata.name} has no EtcdUser`,
        wrap(
          auth ? `Authentication: ${auth.reason}: ${auth.message}` : 'Authentication: its state is not known',
          terminal.width,
        ),
      ].join('\n\n'),
    );
    return Exit.done;
  },
};

function rows(ours: readonly UserObject[], width: number): string {
  const [header, ...lines] = table(
    ['NAME', 'USER', 'READY', 'REASON', 'CERTIFICATE UNTIL'],
    ours.map(({ metadata, spec, status }) => {
      const ready = readyOf(status);
      return [
        metadata.name,
        spec.userName ?? '?',
        ready?.status ?? 'Unknown',
        ready?.reason ?? 'NotSeen',
        until(spec, status),
      ].map(plain);
    }),
  ).split('\n');
  return [
    header,
    ...lines.flatMap((line, index) => {
      const ready = readyOf(ours[index]?.status);
      return ready && ready.status !== 'True' ? [line, wrap(ready.message ?? '', width, '    ')] : [line];
    }),
  ].join('\n');
}

function until({ certificateSecret, passwordSecret }: UserObject['spec'], status: UserObject['status']): string {
  // The status may still have the certificate that the user had before.
  if (passwordSecret) return 'password';
  return status?.certificate?.notAfter?.slice(0, 10) ?? (certificateSecret ? '?' : 'not issued here');
}

const readyOf = (status: UserObject['status']) => status?.conditions?.find(({ type }) => type === 'Ready');
