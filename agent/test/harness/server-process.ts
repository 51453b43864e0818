import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { reap, spare } from './reaper.ts';
import { isStopped } from './stopped.ts';

/** A server that ends with this process and writes its output to a file. */
export class ServerProcess {
  readonly pid: number;
  readonly exited: Promise<unknown>;
  readonly #name: string;
  readonly #log: string;
  readonly #child: ChildProcess;

  private constructor(name: string, log: string, child: ChildProcess) {
    this.#name = name;
    this.#log = log;
    this.#child = child;
    this.pid = child.pid!;
    reap(this.pid);
    this.exited = once(child, 'exit').then(() => spare(this.pid));
    child.unref();
  }

  static async spawn(name: string, program: string, args: string[], log: string): Promise<ServerProcess> {
    const output = openSync(log, 'a');
    try {
      const child = spawn(program, args, { stdio: ['ignore', output, output], env: { PATH: process.env.PATH } });
      await once(child, 'spawn');
      return new ServerProcess(name, log, child);
    } finally {
      closeSync(output);
    }
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Polls until `ready` returns true. The error of a server that does not become ready ends with its log. */
  async until(ready: () => Promise<boolean>, seconds = 60): Promise<void> {
    const deadline = Date.now() + seconds * 1_000;
    while (this.running && Date.now() < deadline) {
      if (await ready().catch(() => false)) return;
      await sleep(30);
    }
    const what = this.running ? `is not ready after ${seconds} s` : 'has ended';
    const log = (await readFile(this.#log, 'utf8')).trim().split('\n').slice(-20).join('\n');
    throw new Error(`${this.#name} ${what}. The end of its log:\n${log}`);
  }

  /** Sends a signal, and waits until the process has ended or stopped. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.running) return;
    process.kill(this.pid, signal);
    if (signal === 'SIGCONT') return;
    if (signal === 'SIGSTOP') {
      while (this.running && !isStopped(this.pid)) await sleep(1);
      return;
    }
    this.#child.ref();
    await this.exited;
  }

  /** Ends the server in an orderly way, or with SIGKILL after 10 s. */
  async stop(): Promise<void> {
    const last = setTimeout(() => process.kill(this.pid, 'SIGKILL'), 10_000);
    await this.kill('SIGTERM').finally(() => clearTimeout(last));
  }
}
