import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { AgentStatus, Identity } from '../../protocol/agent-status.ts';
import type { Permit, RecordDoc } from '../../protocol/record.ts';
import { writeIdentity } from '../identity.ts';
import { type MemberConfig, parseMemberArgs } from '../member-config.ts';
import { openRecordSource } from '../record/record-source.ts';
import type { StatusServer } from '../status-server.ts';
import type { GateStep } from '../steps.ts';
import { gate } from './gate.ts';

export const volumeIdOf = (digit: string): string => digit.repeat(32);

export function recordDoc(change: Partial<RecordDoc> = {}): RecordDoc {
  return {
    v: 1,
    rev: 5,
    clusterUid: 'uid',
    epoch: 1,
    minEpoch: 0,
    token: 'token-1',
    phase: 'Running',
    seeded: true,
    permits: {},
    members: {},
    tombstones: [],
    versions: { current: '3.6', allowedMinors: ['3.6'] },
    restores: [],
    ...change,
  };
}

export function permit(change: Partial<Permit> = {}): Permit {
  return {
    id: 'permit-1',
    ordinal: 0,
    volumeId: volumeIdOf('a'),
    epoch: 1,
    mode: 'new',
    token: 'token-1',
    initialCluster: 'c-0=http://127.0.0.1:2380',
    issuedAt: '2026-11-21T22:00:00.000Z',
    ...change,
  };
}

export function identity(change: Partial<Identity> = {}): Identity {
  return {
    v: 1,
    clusterUid: 'uid',
    epoch: 1,
    token: 'token-1',
    ordinal: 0,
    volumeId: volumeIdOf('a'),
    permitId: 'permit-1',
    mode: 'new',
    memberId: 'abc',
    state: 'sealed',
    lastVersion: '3.6.16',
    runs: 1,
    ...change,
  };
}

/** A gate in this process, with its own directory. */
export class TestGate implements AsyncDisposable {
  readonly dir: string;
  readonly server: Pick<StatusServer, 'metrics' | 'salvage'> & { status: () => AgentStatus } = {
    status: () => {
      throw new Error('the gate has not reported a status yet');
    },
    metrics: async () => [],
  };
  readonly steps: string[] = [];
  logged = '';
  readonly args: Record<string, string>;
  readonly env: Record<string, string>;
  #isRunning = false;
  #running: { stop: AbortController; done: Promise<void> } | undefined;

  private constructor(dir: string) {
    this.dir = dir;
    this.args = {
      ...{ cluster: 'c', 'data-dir': this.data, 'scratch-dir': join(dir, 'scratch') },
      ...{ settings: join(dir, 'settings.json'), record: `file://${join(dir, 'record.json')}`, poll: '20ms' },
      ...{ 'peer-url': 'http://127.0.0.1:2380', 'client-url': 'http://127.0.0.1:2379' },
    };
    this.env = { POD_NAME: 'c-0', POD_UID: 'pod-uid', POD_IP: '127.0.0.1', ETCD_AGENT_NAMESPACE: 'ns' };
    Object.assign(this.env, { MIN_EPOCH: '', ETCD_VERSION: '3.6.16' });
  }

  static async make(): Promise<TestGate> {
    const made = new TestGate(await mkdtemp(join(tmpdir(), 'gate-')));
    await mkdir(made.data);
    await made.settings({});
    return made;
  }

  get data(): string {
    return join(this.dir, 'data');
  }

  get config(): MemberConfig {
    const args = Object.entries(this.args).map(([name, value]) => `--${name}=${value}`);
    return parseMemberArgs('gate', args, this.env);
  }

  settings(settings: Record<string, unknown>): Promise<void> {
    return writeFile(join(this.dir, 'settings.json'), JSON.stringify(settings));
  }

  /** Replaces the record atomically, as an API server does. */
  async record(doc: unknown): Promise<void> {
    const file = join(this.dir, 'record.json');
    await writeFile(`${file}.next`, JSON.stringify(doc));
    await rename(`${file}.next`, file);
  }

  async file(path: string, content = 'x'): Promise<void> {
    const file = join(this.data, path);
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, content);
  }

  read(path: string): Promise<string> {
    return readFile(join(this.data, path), 'utf8');
  }

  /** Every file on the volume except the lock, with its content. */
  async tree(): Promise<Record<string, string>> {
    const entries = await readdir(this.data, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && entry.name !== 'lock');
    const paths = files.map((entry) => join(entry.parentPath, entry.name));
    const read = async (path: string) => [path.slice(this.data.length + 1), await readFile(path, 'utf8')] as const;
    return Object.fromEntries(await Promise.all(paths.map(read)));
  }

  /** Prepares a volume on which a member has run. */
  async sealed(change: Partial<Identity> = {}): Promise<void> {
    const made = identity(change);
    await this.file('volume-id', `${made.volumeId}\n`);
    await this.file('etcd/member/wal/0000000000000000-0000000000000000.wal', 'log');
    await this.file('etcd/member/snap/db', 'database');
    await writeIdentity(this.data, made);
  }

  /** Runs until etcd may start, or until the simulated crash. */
  async run(crashAt?: GateStep): Promise<'started' | 'crashed'> {
    this.start(crashAt);
    return this.end();
  }

  start(crashAt?: GateStep): void {
    const stop = new AbortController();
    const at = (step: string) => {
      this.steps.push(step);
      if (step !== crashAt) return;
      stop.abort(new Error('crash'));
      throw stop.signal.reason;
    };
    const { config } = this;
    const write = (line: string) => {
      this.logged += line;
    };
    const log = pino({}, { write });
    const deps = { record: openRecordSource(config), server: this.server, log, signal: stop.signal, at };
    const done = gate(config, deps as Parameters<typeof gate>[1]);
    this.#running = { stop, done };
    this.#isRunning = true;
    const ended = () => {
      this.#isRunning = false;
    };
    done.then(ended, ended);
  }

  async end(): Promise<'started' | 'crashed'> {
    const { stop, done } = this.#running!;
    try {
      await done;
      return 'started';
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      return 'crashed';
    }
  }

  /** Waits until the condition holds for /status. */
  async until(what: (status: AgentStatus) => boolean): Promise<AgentStatus> {
    while (this.#isRunning) {
      await sleep(5);
      const status = this.server.status();
      if (what(status)) return status;
    }
    throw new Error('the gate has ended');
  }

  async stop(): Promise<void> {
    this.#running?.stop.abort(new Error('stopped'));
    await this.#running?.done.catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.dir, { recursive: true, force: true });
  }
}
