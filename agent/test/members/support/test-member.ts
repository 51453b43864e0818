import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { pino } from 'pino';
import { permitConfig } from '../../../src/member/etcd-config.ts';
import { writeIdentity } from '../../../src/member/identity.ts';
import { type MemberConfig, memberConfig } from '../../../src/member/member-config.ts';
import { openRecordSource } from '../../../src/member/record/record-source.ts';
import { serve } from '../../../src/member/sidecar/serve.ts';
import { initialStatus } from '../../../src/member/sidecar/serve-status.ts';
import { type Readiness, StatusServer } from '../../../src/member/status-server.ts';
import type { MemberStep } from '../../../src/member/steps.ts';
import { writeVolumeId } from '../../../src/member/volume-id.ts';
import type { AgentStatus, Identity } from '../../../src/protocol/agent-status.ts';
import { recordOf } from '../../../src/protocol/record.fixture.ts';
import type { Permit, RecordDoc } from '../../../src/protocol/record.ts';
import { etcdOf, type Minor, newestEtcd } from '../../harness/etcd-binaries.ts';
import { freePorts } from '../../harness/free-ports.ts';
import { ServerProcess } from '../../harness/server-process.ts';

/** A volume prepared by the gate, for the sidecar in this process and a real etcd. */
export class TestMember implements AsyncDisposable {
  readonly dir: string;
  readonly config: MemberConfig;
  readonly steps: MemberStep[] = [];
  readonly log: string[] = [];
  permit: Permit;
  #doc: RecordDoc;
  #server: StatusServer | undefined;
  #serving: Promise<void> | undefined;
  #stop = new AbortController();
  #etcd: ServerProcess | undefined;
  readonly #minor: Minor;

  private constructor(dir: string, config: MemberConfig, volumeId: string, minor: Minor) {
    this.dir = dir;
    this.#minor = minor;
    this.config = config;
    this.permit = {
      ...{ id: 'p1', ordinal: 0, volumeId, epoch: 1, mode: 'new', token: 't1', issuedAt: '' },
      initialCluster: `${config.pod}=${config.peerUrl}`,
    };
    const versions = { current: minor, allowedMinors: [minor] };
    this.#doc = recordOf({
      ...{ rev: 0, seeded: false, clusterId: undefined, members: {}, versions, permits: { 0: this.permit } },
    });
  }

  static async make(changes: Partial<MemberConfig> = {}, etcd = newestEtcd()): Promise<TestMember> {
    const { minor, version } = etcd;
    const dir = await mkdtemp(join(tmpdir(), 'serve-'));
    const ports = await freePorts(3);
    const schemes = [changes.peerTlsDir, changes.serverTlsDir, undefined].map((tls) => (tls ? 'https' : 'http'));
    const [peer, client, metrics] = ports.map((port, i) => `${schemes[i]}://127.0.0.1:${port}`);
    const flags: Record<string, string | undefined> = {
      ...{ cluster: 'db', 'data-dir': dir, settings: `${dir}.settings`, record: `file://${dir}.record` },
      ...{ listen: '127.0.0.1:0', 'peer-url': peer, 'listen-peer-url': peer, 'client-url': client, poll: '100ms' },
      ...{ 'listen-client-url': client, 'metrics-url': metrics },
      ...{ 'peer-tls-dir': changes.peerTlsDir, 'server-tls-dir': changes.serverTlsDir },
    };
    const env = { POD_NAME: 'db-0', POD_UID: 'u', ETCD_AGENT_NAMESPACE: 'ns', ETCD_VERSION: version };
    const config = { ...memberConfig('serve', (name) => flags[name], env), ...changes };
    await writeFile(config.settingsFile, '{}');
    const member = new TestMember(dir, config, await writeVolumeId(dir), minor);
    await member.identity({});
    await permitConfig(config, member.permit);
    return member;
  }

  async identity(changes: Partial<Identity>): Promise<void> {
    const { volumeId, token, id } = this.permit;
    await writeIdentity(this.dir, {
      ...{ v: 1, clusterUid: 'uid', epoch: 1, token, ordinal: 0, volumeId, permitId: id, mode: 'new', runs: 1 },
      ...{ state: 'permitted', lastVersion: this.config.etcdVersion },
      ...changes,
    });
  }

  /** Publishes a newer record. */
  async record(changes: Partial<RecordDoc> = {}): Promise<void> {
    this.#doc = { ...this.#doc, rev: this.#doc.rev + 1, ...changes };
    await this.recordText(JSON.stringify(this.#doc));
  }

  async recordText(text: string): Promise<void> {
    await writeFile(`${this.dir}.next`, text);
    await rename(`${this.dir}.next`, `${this.dir}.record`);
  }

  get recordFile(): string {
    return `${this.dir}.record`;
  }

  async serve(changes: Partial<MemberConfig> = {}): Promise<void> {
    const config = { ...this.config, ...changes };
    const log = pino({ level: 'warn' }, { write: (line) => this.log.push(JSON.parse(line).msg) });
    const server = await StatusServer.listen({ ...config, log, status: () => initialStatus(config) });
    this.#server = server;
    this.#stop = new AbortController();
    const at = (step: MemberStep) => void this.steps.push(step);
    const deps = { record: openRecordSource(config), server, log, signal: this.#stop.signal, at };
    this.#serving = serve(config, deps);
  }

  /** Stops it like SIGTERM. */
  async end(): Promise<void> {
    this.#stop.abort(new Error('the end'));
    await this.#serving;
    await this.#server?.close();
    this.#server = undefined;
  }

  async startEtcd(): Promise<void> {
    const { etcd } = etcdOf(this.#minor);
    const args = [`--config-file=${join(this.dir, 'etcd.yaml')}`];
    this.#etcd = await ServerProcess.spawn('etcd', etcd, args, `${this.dir}.log`);
  }

  async killEtcd(): Promise<void> {
    await this.#etcd?.kill();
  }

  status(): AgentStatus | Promise<AgentStatus> {
    return this.#server!.status();
  }

  ready(): Readiness | Promise<Readiness> {
    return this.#server!.ready();
  }

  /** Waits until /status has these fields. */
  async until(wanted: Partial<AgentStatus>): Promise<AgentStatus> {
    const found = await until(async () => {
      const status = await this.status();
      const fits = Object.entries(wanted).every(([key, value]) =>
        isDeepStrictEqual(status[key as keyof AgentStatus], value),
      );
      return { ok: fits, seen: status };
    });
    return found;
  }

  async untilReady(ready: boolean, why: RegExp): Promise<void> {
    await until(async () => {
      const seen = await this.ready();
      return { ok: seen.ready === ready && why.test(seen.why), seen };
    });
  }

  async untilFile(name: string, content: RegExp): Promise<string> {
    return until(async () => {
      const seen = await readFile(join(this.dir, name), 'utf8').catch(String);
      return { ok: content.test(seen), seen };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    await this.killEtcd();
    for (const name of ['', '.settings', '.record', '.log'])
      await rm(`${this.dir}${name}`, { recursive: true, force: true });
  }
}

async function until<T>(look: () => Promise<{ ok: boolean; seen: T }>): Promise<T> {
  const end = Date.now() + 20_000;
  while (true) {
    const { ok, seen } = await look();
    if (ok) return seen;
    if (Date.now() > end) throw new Error(`still ${JSON.stringify(seen)}`);
    await sleep(30);
  }
}
