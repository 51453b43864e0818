import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { recordDoc, TestGate } from '../../../src/member/gate/gate.fixture.ts';
import type { AgentStatus } from '../../../src/protocol/agent-status.ts';
import type { Permit, RecordDoc } from '../../../src/protocol/record.ts';
import type { TlsFiles } from '../../harness/certificates.ts';
import { cacheDirectory, etcdOf, etcdutl, type Minor } from '../../harness/etcd-binaries.ts';
import { EtcdClient } from '../../harness/etcd-client.ts';
import { freePorts } from '../../harness/free-ports.ts';
import { reap, spare } from '../../harness/reaper.ts';
import { ServerProcess } from '../../harness/server-process.ts';
import { get } from '../../local/get.ts';
import { setCrashPoints } from '../../local/pods/crash.ts';
import { agentCommand } from '../../local/pods/pod.ts';

const patience = 60_000;

/** The volume of one pod, with the real gate and etcd as processes, but without a sidecar. */
export class Bench implements AsyncDisposable {
  readonly gate: TestGate;
  readonly minor: Minor;
  readonly peerUrl: string;
  readonly client: EtcdClient;
  readonly #statusUrl: string;
  readonly #healthUrl: string;
  #gate: ChildProcess | undefined;
  #etcd: ServerProcess | undefined;

  private constructor(gate: TestGate, minor: Minor, ports: number[]) {
    const [peer, client, metrics, listen] = ports.map((port) => `http://127.0.0.1:${port}`) as [string, ...string[]];
    this.gate = gate;
    this.minor = minor;
    this.peerUrl = peer;
    this.#statusUrl = `${listen}/status`;
    this.#healthUrl = `${metrics}/health`;
    const binaries = etcdOf(minor);
    this.client = new EtcdClient(binaries, [client!], undefined);
    Object.assign(gate.args, { 'peer-url': peer, 'listen-peer-url': peer, 'metrics-url': metrics });
    Object.assign(gate.args, { 'client-url': client, 'listen-client-url': client, listen: `127.0.0.1:${ports[3]}` });
    Object.assign(gate.args, { etcdutl: etcdutl(), 'etcd-dir': join(cacheDirectory, 'etcd'), poll: '100ms' });
    Object.assign(gate.args, { 'idle-timeout': '5s' });
    gate.env.ETCD_VERSION = binaries.version;
    mkdirSync(join(gate.dir, 'scratch'));
  }

  static async make(minor: Minor, ordinal = 0): Promise<Bench> {
    const gate = await TestGate.make();
    gate.env.POD_NAME = `c-${ordinal}`;
    return new Bench(gate, minor, await freePorts(4));
  }

  /** Mounts a certificate, for connections between members and of clients. Then `status` cannot read the gate's any more. */
  mount({ ca, server: { cert, key } }: TlsFiles): void {
    const directory = join(this.gate.dir, 'tls');
    mkdirSync(directory);
    for (const [file, name] of [[ca, 'ca.crt'] as const, [cert, 'tls.crt'] as const, [key, 'tls.key'] as const])
      copyFileSync(file, join(directory, name));
    Object.assign(this.gate.args, { 'peer-tls-dir': directory, 'server-tls-dir': directory });
  }

  /** Formats this member like its own permits. */
  get self(): string {
    return `${this.gate.env.POD_NAME}=${this.peerUrl}`;
  }

  /** Writes a record with this permit for ordinal 0, or for the ordinal that it names. */
  permit(given: Permit, doc: Partial<RecordDoc> = {}): Promise<void> {
    const { minor } = this;
    const versions = { current: minor, allowedMinors: [minor] };
    return this.gate.record(recordDoc({ versions, epoch: given.epoch, ...doc, permits: { [given.ordinal]: given } }));
  }

  async runGate(crashAt?: string): Promise<string | number> {
    await this.startGate(crashAt);
    return this.gateEnd();
  }

  /** `crashAt`: SIGKILL right after that step. */
  async startGate(crashAt?: string): Promise<void> {
    const { gate } = this;
    setCrashPoints(gate.dir, 'gate', crashAt === undefined ? [] : [crashAt]);
    const args = Object.entries(gate.args).map(([name, value]) => `--${name}=${value}`);
    const [program, ...node] = agentCommand;
    const env = { PATH: process.env.PATH, ...gate.env, CRASH_DIR: gate.dir };
    this.#gate = spawn(program!, [...node, 'gate', ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    this.#gate.stderr!.on('data', (chunk) => {
      gate.logged += chunk;
    });
    await once(this.#gate, 'spawn');
    reap(this.#gate.pid!);
  }

  /** Exit code or signal. */
  async gateEnd(): Promise<string | number> {
    const child = this.#gate!;
    if (this.#alive) await once(child, 'exit');
    spare(child.pid!);
    return child.exitCode ?? child.signalCode!;
  }

  async stopGate(): Promise<void> {
    if (!this.#gate) return;
    this.#gate.kill('SIGKILL');
    await this.gateEnd();
  }

  async status(): Promise<AgentStatus> {
    return JSON.parse((await get(this.#statusUrl, undefined, 1_000)).body);
  }

  async until(what: (status: AgentStatus) => boolean): Promise<AgentStatus> {
    for (const end = Date.now() + patience; Date.now() < end && this.#alive; await sleep(50)) {
      const status = await this.status().catch(() => undefined);
      if (status && what(status)) return status;
    }
    throw new Error(`the gate ${this.#alive ? 'does not get there' : 'has ended'}:\n${this.gate.logged.slice(-2_000)}`);
  }

  get #alive(): boolean {
    return this.#gate?.exitCode === null && this.#gate.signalCode === null;
  }

  /** Returns the volumeId with which a new volume requests a permit, and ends the gate. */
  async volumeId(): Promise<string> {
    await this.startGate();
    const { request } = await this.until((status) => status.request !== undefined);
    await this.stopGate();
    return request!.volumeId;
  }

  async startEtcd(minor = this.minor): Promise<ServerProcess> {
    const log = join(this.gate.dir, 'etcd.log');
    const config = join(this.gate.data, 'etcd.yaml');
    const etcd = await ServerProcess.spawn('etcd', etcdOf(minor).etcd, [`--config-file=${config}`], log);
    this.#etcd = etcd;
    await etcd.until(async () => (await get(this.#healthUrl, undefined, 2_000)).status === 200);
    return etcd;
  }

  async stopEtcd(): Promise<void> {
    await this.#etcd?.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopGate();
    await this.stopEtcd();
    await this.gate[Symbol.asyncDispose]();
  }
}
