import { spawn } from 'node:child_process';
import { Exit, PluginError, usage } from '../exit.ts';
import type { ClusterObject } from '../objects.ts';
import type { Streams } from '../terminal.ts';
import { option, type Verb } from '../verb.ts';

/** Files of the container `etcd`. */
const tls = '/etc/etcd/tls/server';

export const ctl: Verb = {
  name: 'ctl',
  args: '[name]',
  about:
    "run etcdctl in a member's pod with the member's certificate: kubectl etcd ctl -- endpoint status --cluster -w table",
  options: [option('-m, --member <pod>', 'in this pod (default: that of a healthy member)')],
  async run({ args, flags, rest, terminal, connect }) {
    if (rest.length === 0)
      throw usage('write the command of etcdctl after --, such as kubectl etcd ctl -- member list');
    const session = await connect();
    const cluster = await session.cluster(args[0]);
    const pod = podOf(cluster, flags.member as string | undefined);
    // It comes from the status, and kubectl would take one that begins with a hyphen for a flag.
    if (!/^[a-z0-9][a-z0-9.-]*$/.test(pod))
      throw new PluginError(
        Exit.refused,
        `the status of ${cluster.metadata.name} names a pod '${pod}', which no pod can be named`,
      );
    // Not the exec protocol itself: kubectl is there, and has terminals, signals and exit codes.
    const command = [
      ...session.kubectlFlags,
      ...['exec', '-i', '-n', session.namespace, pod, '-c', 'etcd', '--', 'etcdctl'],
      ...connection(cluster),
      ...rest,
    ];
    const { exit, said } = await exec(command, terminal.streams);
    if (/^Error from server \(Forbidden\)/m.test(said)) return Exit.forbidden;
    if (exit !== Exit.done && /permission denied/i.test(said) && isAuthenticationOn(cluster))
      terminal.note(
        `${cluster.metadata.name} has authentication on: the member's certificate may read and write no key. To act as a user or as root, run etcdctl with the certificate of that user: docs/clusters/users.md#root-and-backups`,
      );
    return exit as Exit;
  },
};

const reasonOf = ({ status = {} }: ClusterObject, wanted: string): string | undefined =>
  status.conditions?.find(({ type }) => type === wanted)?.reason;

/** As far as its status knows. */
const isAuthenticationOn = (cluster: ClusterObject): boolean =>
  ['AuthenticationOn', 'OnlyRoot', 'AuthNotSwitchedOff'].includes(reasonOf(cluster, 'AuthReady') ?? '');

function podOf({ metadata, status = {} }: ClusterObject, wanted: string | undefined): string {
  const members = status.members ?? [];
  if (wanted !== undefined) {
    if (!members.some(({ pod }) => pod === wanted))
      throw new PluginError(
        Exit.notFound,
        `${metadata.name} has no member '${wanted}'; known: ${members.map(({ pod }) => pod).join(', ') || 'none'}`,
      );
    return wanted;
  }
  return (members.find(({ healthy }) => healthy) ?? members[0])?.pod ?? `${metadata.name}-0`;
}

/** With https, the certificate that the member presents is valid for localhost, and as a client too. */
function connection(cluster: ClusterObject): string[] {
  if (!cluster.spec.tls || reasonOf(cluster, 'TransportReady') === 'Plaintext')
    return ['--endpoints=http://localhost:2379'];
  return [
    '--endpoints=https://localhost:2379',
    `--cacert=${tls}/ca.crt`,
    `--cert=${tls}/tls.crt`,
    `--key=${tls}/tls.key`,
  ];
}

interface Ended {
  /** Of kubectl, which is that of etcdctl. */
  readonly exit: number;
  /** The beginning of its stderr. */
  readonly said: string;
}

function exec(args: readonly string[], { env, stderr }: Streams): Promise<Ended> {
  return new Promise((resolve, reject) => {
    let said = '';
    const kubectl = spawn('kubectl', args, { stdio: ['inherit', 'inherit', 'pipe'], env: env as NodeJS.ProcessEnv });
    kubectl.stderr.on('data', (chunk: Buffer) => {
      stderr.write(chunk);
      if (said.length < 16_384) said += chunk.toString();
    });
    kubectl
      .on('error', () => reject(new PluginError(Exit.notFound, 'ctl needs kubectl on the PATH')))
      .on('close', (code) => resolve({ exit: code ?? Exit.interrupted, said }));
  });
}
