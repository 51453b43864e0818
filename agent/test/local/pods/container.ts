import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { reap, spare } from '../../harness/reaper.ts';

interface ContainerSpec {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly log: string;
}

/**
 * Runs a file with Node. Throws if the file does not exist, because a container would restart it endlessly. The
 * library's sources, of which the agent uses some, have no type in package.json.
 */
export function nodeCommand(file: string): string[] {
  if (!existsSync(file)) throw new Error(`${file} does not exist`);
  return [process.execPath, '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', file];
}

// Otherwise each start would compile the sources again.
const common = { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(tmpdir(), 'cdk8s-etcd-compiled') };

const backoff = { first: 100, most: 2_000 };

/** A process that is restarted whenever it ends, as kubelet does, but sooner. */
export class Container {
  readonly #spec: ContainerSpec;
  readonly #stopped = new AbortController();
  #child: ChildProcess | undefined;
  #ended: Promise<number | null> | undefined;

  constructor(spec: ContainerSpec) {
    this.#spec = spec;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Restarts it until it ends with 0, like an init container. Returns false if it was stopped before. */
  async complete(): Promise<boolean> {
    let wait = 0;
    while (!this.#stopped.signal.aborted) {
      const code = await this.#once();
      if (code === 0 && !this.#stopped.signal.aborted) return true;
      wait = this.#next(wait, code);
      await this.#pause(wait);
    }
    return false;
  }

  /** Restarts it forever. */
  keep(): void {
    void this.#keep();
  }

  async #keep(): Promise<void> {
    let wait = 0;
    while (!this.#stopped.signal.aborted) {
      const since = Date.now();
      const code = await this.#once();
      wait = Date.now() - since > 5_000 ? backoff.first : this.#next(wait, code);
      await this.#pause(wait);
    }
  }

  /** A process killed by a test (no exit code) must be back soon. */
  #next(wait: number, code: number | null): number {
    return code === null ? backoff.first : Math.min(Math.max(wait * 2, backoff.first), backoff.most);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Continues the process after a SIGSTOP until it ends, and does not restart it. */
  async resumeOnce(): Promise<void> {
    this.#stopped.abort();
    this.signal('SIGCONT');
    await this.#ended;
  }

  /** Time after which SIGKILL follows. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped.abort();
    const child = this.#child;
    if (!child) return;
    child.kill(graceMs > 0 ? 'SIGTERM' : 'SIGKILL');
    const last = setTimeout(() => child.kill('SIGKILL'), graceMs);
    await this.#ended;
    clearTimeout(last);
  }

  #pause(ms: number): Promise<unknown> {
    return sleep(ms, undefined, { signal: this.#stopped.signal }).catch(() => {});
  }

  #once(): Promise<number | null> {
    this.#ended = this.#run();
    return this.#ended;
  }

  async #run(): Promise<number | null> {
    const { command, env, log } = this.#spec;
    const output = openSync(log, 'a');
    const [program, ...args] = command;
    const child = spawn(program!, args, {
      stdio: ['ignore', output, output],
      env: { ...common, ...env },
      detached: true,
    });
    closeSync(output);
    const exited = once(child, 'exit');
    if (child.pid === undefined) {
      await exited.catch(() => {});
      return null;
    }
    this.#child = child;
    // In its own process group: a container ends with all its processes.
    const group = -child.pid;
    reap(group);
    const [code] = await exited;
    killGroup(group);
    spare(group);
    this.#child = undefined;
    return code;
  }
}

function killGroup(group: number): void {
  try {
    process.kill(group, 'SIGKILL');
  } catch {
    // No process is left.
  }
}
