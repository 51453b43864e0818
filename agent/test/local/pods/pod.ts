import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { minorOf } from '../../../src/protocol/versions.ts';
import { cacheDirectory, etcdOf, etcdutl, type Minor } from '../../harness/etcd-binaries.ts';
import type { Template, WorldFile } from '../objects.ts';
import { clientUrlOf, peerUrlOf, schemeOf } from '../port.ts';
import { Container, nodeCommand } from './container.ts';

interface PodSpec {
  readonly dir: string;
  readonly world: WorldFile;
  readonly ordinal: number;
  readonly uid: string;
  readonly template: Template;
  readonly volume: string;
}

const grace = 8_000;

/** The containers of a pod: the gate, then the agent and etcd. */
export class LocalPod {
  readonly uid: string;
  readonly #gate: Container;
  readonly #serve: Container;
  readonly #etcd: Container;
  #phase: 'gate' | 'main' | 'stopped' = 'gate';

  constructor(spec: PodSpec) {
    const { dir, world, ordinal, template, volume, uid } = spec;
    const scratch = join(dir, 'scratch', uid);
    for (const each of [volume, scratch, join(dir, 'logs')]) mkdirSync(each, { recursive: true });
    const log = (container: string) => join(dir, 'logs', `${world.name}-${ordinal}-${container}.log`);
    const env = environment(spec);
    const flags = memberFlags(spec);
    this.uid = uid;
    this.#gate = new Container({
      command: [...agentCommand, 'gate', ...flags, ...gateFlags(scratch)],
      env,
      log: log('gate'),
    });
    this.#serve = new Container({
      command: [...agentCommand, 'serve', ...flags, ...backupFlags(spec)],
      env,
      log: log('agent'),
    });
    const { etcd } = etcdOf(minorOf(template.image ?? template.version) as Minor);
    this.#etcd = new Container({ command: [etcd, `--config-file=${join(volume, 'etcd.yaml')}`], log: log('etcd') });
  }

  start(): void {
    void this.#run();
  }

  /** Stops the pod gracefully, or kills all its processes at once. */
  async stop(gracefully: boolean): Promise<void> {
    this.#phase = 'stopped';
    await this.#gate.stop(gracefully ? grace : 0);
    if (!gracefully) this.#serve.signal('SIGKILL');
    await this.#etcd.stop(gracefully ? grace : 0);
    await this.#serve.stop(gracefully ? grace : 0);
  }

  killEtcd(signal: NodeJS.Signals): void {
    this.#etcd.signal(signal);
  }

  killAgent(signal: NodeJS.Signals): void {
    (this.#phase === 'gate' ? this.#gate : this.#serve).signal(signal);
  }

  get etcdPid(): number | undefined {
    return this.#etcd.pid;
  }

  async #run(): Promise<void> {
    if (!(await this.#gate.complete()) || this.#phase === 'stopped') return;
    this.#phase = 'main';
    this.#serve.keep();
    this.#etcd.keep();
  }
}

export const agentCommand: readonly string[] = nodeCommand(join(import.meta.dirname, 'agent.mts'));

function environment({ dir, world, ordinal, uid, template }: PodSpec): Record<string, string> {
  return {
    POD_NAME: `${world.name}-${ordinal}`,
    POD_UID: uid,
    POD_IP: '127.0.0.1',
    ETCD_AGENT_NAMESPACE: world.namespace,
    MIN_EPOCH: template.epoch > 0 ? String(template.epoch) : '',
    ETCD_VERSION: template.version,
    CRASH_DIR: dir,
  };
}

function memberFlags({ dir, world, ordinal, volume, template }: PodSpec): string[] {
  const { name, ports } = world;
  const { tls } = template;
  const { metrics, agent } = ports[ordinal]!;
  const [peerUrl, clientUrl] = [peerUrlOf(world, ordinal, schemeOf(tls)), clientUrlOf(world, ordinal, schemeOf(tls))];
  return [
    ...[`--cluster=${name}`, `--data-dir=${volume}`, `--settings=${join(dir, 'settings.json')}`],
    ...[`--record=file://${join(dir, 'api/record.json')}`, `--peer-service=${name}-peers`],
    ...['--cluster-domain=cluster.local', `--listen=127.0.0.1:${agent}`, '--poll=200ms'],
    ...[`--peer-url=${peerUrl}`, `--listen-peer-url=${peerUrl}`],
    ...[`--client-url=${clientUrl}`, `--listen-client-url=${clientUrl}`, `--metrics-url=http://127.0.0.1:${metrics}`],
    ...(tls ? [`--peer-tls-dir=${join(dir, 'tls/peer')}`, `--server-tls-dir=${join(dir, 'tls/server')}`] : []),
  ];
}

const backupFlags = ({ dir, world: { name, users }, ordinal }: PodSpec): string[] =>
  users
    ? [
        ...[`--root-tls-dir=${join(dir, 'tls/root')}`, `--backup-user=${name}-backup`],
        `--backup-listen=127.0.0.1:${users.ports[ordinal]}`,
      ]
    : [];

const gateFlags = (scratch: string): string[] => [
  `--scratch-dir=${scratch}`,
  `--etcdutl=${etcdutl()}`,
  `--etcd-dir=${join(cacheDirectory, 'etcd')}`,
];
