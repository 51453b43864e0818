import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { imageCommand } from '../../agent/test/harness/image-command.ts';
import { ServerProcess } from '../../agent/test/harness/server-process.ts';
import { Cgroup } from '../../agent/test/memory/cgroup.ts';
import { apiTokenDirectory } from '../../src/lib/api-token.ts';
import { reconcilerCommand } from '../../src/reconciler/reconciler-command.ts';

export interface AgentOptions {
  readonly directory: string;
  readonly namespace: string;
  /** Of the API server, on 127.0.0.1. */
  readonly apiPort: number;
  /** Path of the certificate of its authority. */
  readonly ca: string;
  /** Where peer names are resolved. */
  readonly dns: string;
  readonly settings: Readonly<Record<string, number>>;
}

/** MiB. */
export interface Memory {
  readonly resident: number;
  /** Without mapped parts of its program file. */
  readonly own: number;
  /** Peak of resident memory so far. */
  readonly peak: number;
}

// As in a pod: a separate mount namespace puts the token, the authority and the resolver into the paths of a pod.
const asInPod = `
set -eu
mount -t tmpfs tmpfs /run
mkdir -p "$TOKENS"
cp "$POD"/namespace "$POD"/token "$POD"/ca.crt "$TOKENS"
resolv=$(readlink -m /etc/resolv.conf)
mkdir -p "$(dirname "$resolv")"
[ -e "$resolv" ] || : > "$resolv"
mount --bind "$POD"/resolv.conf "$resolv"
exec "$@"
`;

const asPod = ['unshare', '--map-root-user', '--mount', 'sh'];
export const canBeAsInPod = (): boolean => spawnSync(asPod[0]!, [...asPod.slice(1), '-c', 'true']).status === 0;

/** The reconciler, as the manifests run it. */
export async function startAgent(options: AgentOptions): Promise<AgentProcess> {
  const { directory, namespace, apiPort, ca, dns, settings } = options;
  await mkdir(directory, { recursive: true });
  const file = (name: string, content: string | Buffer) => writeFile(join(directory, name), content);
  await file('namespace', namespace);
  await file('token', 'the proxy has another');
  await file('ca.crt', readFileSync(ca));
  await file('resolv.conf', `nameserver ${dns}\n`);
  await file('settings.json', JSON.stringify(settings));
  const server = `https://127.0.0.1:${apiPort}`;
  await file('kubeconfig', kubeConfig(server, ca, namespace));
  const { command, env } = imageCommand(reconcilerCommand);
  const inPod = canBeAsInPod();
  const access = inPod
    ? { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: `${apiPort}` }
    : { KUBECONFIG: join(directory, 'kubeconfig') };
  const variables = { ...env, ...access, TOKENS: apiTokenDirectory, POD: directory };
  const args = ['reconcile', `--namespace=${namespace}`, '--listen=127.0.0.1:0'];
  const given = Object.keys(settings).length > 0 ? [`--tuning=${join(directory, 'settings.json')}`] : [];
  const run = [...command, ...args, ...given];
  const wrapped = inPod ? [...asPod, '-c', asInPod, 'sh', ...run] : run;
  // V8 sizes its heap by the limit of the container.
  const group = await Cgroup.make({ memory: memoryLimit }).catch(() => undefined);
  const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const log = join(directory, 'reconciler.log');
  const [program = '', ...rest] = group?.enter(['env', ...assignments, ...wrapped]) ?? [
    'env',
    ...assignments,
    ...wrapped,
  ];
  return new AgentProcess(await ServerProcess.spawn('reconciler', program, rest, log), group);
}

function kubeConfig(server: string, ca: string, namespace: string): string {
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'bench' },
    clusters: [{ name: 'bench', cluster: { server, 'certificate-authority': ca } }],
    users: [{ name: 'bench', user: { token: 'the proxy has another' } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench', namespace } }],
  });
}

/** Of the manifests. */
const memoryLimit = 256 * 2 ** 20;
export const hasMemoryLimit = async (): Promise<boolean> => {
  await using group = await Cgroup.make({ memory: memoryLimit }).catch(() => null);
  return group !== null;
};

/** Ticks of a second in /proc. */
const ticks = 100;

export class AgentProcess implements AsyncDisposable {
  readonly #process: ServerProcess;
  readonly #group: Cgroup | undefined;

  constructor(process: ServerProcess, group: Cgroup | undefined) {
    this.#process = process;
    this.#group = group;
  }

  /** Throws with the end of its log if it ends before. */
  until(ready: () => Promise<boolean>, seconds: number): Promise<void> {
    return this.#process.until(ready, seconds);
  }

  memory(): Memory {
    const text = readFileSync(`/proc/${this.#process.pid}/status`, 'utf8');
    const mebibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]) / 1024;
    return { resident: mebibytes('VmRSS'), own: mebibytes('RssAnon'), peak: mebibytes('VmHWM') };
  }

  /** Seconds so far, user and system. */
  cpu(): number {
    const fields = readFileSync(`/proc/${this.#process.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) / ticks;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.stop();
    await this.#group?.[Symbol.asyncDispose]();
  }
}
