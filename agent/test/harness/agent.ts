import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { etcdutl } from './etcd-binaries.ts';
import { reap, spare } from './reaper.ts';

const bundle = join(import.meta.dirname, '../../lib/bin/etcd-agent.mjs');

export interface AgentOptions {
  /** Added to a minimal environment: no variable of the user reaches the agent. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Sends the signal at the first log line that names the phase. */
  readonly signalAt?: { readonly phase: string; readonly signal: NodeJS.Signals };
}

export interface AgentResult {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The last line of stdout, if it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it as they please
  readonly result: any;
  /** The lines of stderr that are JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it as they please
  readonly log: any[];
}

/** The agent's bundle, running. */
export class RunningAgent {
  readonly finished: Promise<AgentResult>;
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #phases = new Map<string, PromiseWithResolvers<void>>();

  constructor(args: readonly string[], { env, cwd, signalAt }: AgentOptions = {}) {
    if (!existsSync(bundle)) throw new Error('the agent is not bundled; run `npm run build`');
    const child = spawn(process.execPath, [bundle, ...args], { cwd, env: { ...bareEnvironment(), ...env } });
    this.#child = child;
    reap(child.pid!);
    const log = createInterface(child.stderr).on('line', (line) => this.#hear(line));
    if (signalAt) void this.phase(signalAt.phase).then(() => this.kill(signalAt.signal));
    this.finished = this.#finish(once(child, 'exit'), text(child.stdout), once(log, 'close'));
  }

  /** Resolves when the log names the phase. */
  phase(name: string): Promise<void> {
    const known = this.#phases.get(name) ?? Promise.withResolvers<void>();
    this.#phases.set(name, known);
    return known.promise;
  }

  /** Kills the process and resolves when it has ended. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<AgentResult> {
    this.#child.kill(signal);
    return this.finished;
  }

  #hear(line: string): void {
    this.#lines.push(line);
    const phase = tryJson(line)?.phase;
    if (typeof phase !== 'string') return;
    void this.phase(phase);
    this.#phases.get(phase)?.resolve();
  }

  // biome-ignore lint/suspicious/noExplicitAny: what node:events gives
  async #finish(exited: Promise<any[]>, output: Promise<string>, logged: Promise<unknown>): Promise<AgentResult> {
    const [code, signal] = await exited;
    spare(this.#child.pid!);
    const stdout = await output;
    await logged;
    const log = this.#lines.map(tryJson).filter(Boolean);
    const result = tryJson(stdout.trim().split('\n').at(-1) ?? '');
    return { code, signal, stdout, stderr: this.#lines.join('\n'), result, log };
  }
}

/** Runs the agent until it ends, with any exit code. */
export const runAgent = (args: readonly string[], options?: AgentOptions): Promise<AgentResult> =>
  new RunningAgent(args, options).finished;

function bareEnvironment(): Record<string, string> {
  return {
    PATH: [dirname(etcdutl()), process.env.PATH].join(delimiter),
    TMPDIR: tmpdir(),
    HOME: '/nonexistent',
    // No credentials of a cloud in which the tests may run.
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}

// biome-ignore lint/suspicious/noExplicitAny: see AgentResult
function tryJson(line: string): any {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
