import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { reap, spare } from '../harness/reaper.ts';

const POLL = 50;
const BACK_OFF = 500;
/** As of a static Pod. */
const GRACE = 30_000;
const apiServer = fileURLToPath(import.meta.resolve('./fake-api-server.ts'));

/**
 * Starts the process of a manifest when the manifest appears, restarts it when it ends, and stops it when the manifest
 * disappears. Of several manifests of one Pod, one runs at a time. What cannot fail here: images, volumes, probes, and
 * variables, which it ignores.
 */
export class FakeKubelet {
  readonly #manifests: string;
  readonly #log: string;
  readonly #etcd: string;
  readonly #running = new Map<string, ChildProcess>();
  readonly #notBefore = new Map<string, number>();
  readonly #loop: Promise<void>;
  #stopped = false;
  readonly #ending = new Set<ChildProcess>();
  /** Does not stop processes whose manifest disappears, as a kubelet that has not heard from an API server since its start. */
  deaf = false;
  /** Manifests that it does not start, as if their image could not be pulled. */
  readonly unstartable = new Set<string>();
  /** Manifests whose processes did not end in time, so that it killed them. */
  readonly killed: string[] = [];

  constructor(manifests: string, log: string, etcd: string) {
    this.#manifests = manifests;
    this.#log = log;
    this.#etcd = etcd;
    this.#loop = this.#run();
  }

  pid(manifest: string): number | undefined {
    return this.#running.get(manifest)?.pid;
  }

  /** Ends, with all its processes. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#loop;
    await Promise.all([...this.#running.keys()].map((name) => this.#end(name, 'SIGKILL')));
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const names = (await readdir(this.#manifests).catch((): string[] => [])).filter((name) => !name.startsWith('.'));
      for (const name of this.#running.keys()) if (!names.includes(name) && !this.deaf) void this.#end(name, 'SIGTERM');
      for (const name of names) if (!this.#running.has(name)) await this.#begin(name);
      await sleep(POLL);
    }
  }

  async #begin(name: string): Promise<void> {
    if (this.unstartable.has(name) || Date.now() < (this.#notBefore.get(name) ?? 0)) return;
    const text = await readFile(join(this.#manifests, name), 'utf8').catch(() => '');
    const pod = parse(text);
    const [program, ...args] = pod?.spec?.containers[0].command ?? [];
    if (!program || [...this.#running.values()].some(({ spawnargs: [running] }) => running === program)) return;
    const child = this.#spawn(program, args);
    await once(child, 'spawn');
    reap(child.pid!);
    this.#running.set(name, child);
    child.once('exit', () => {
      spare(child.pid!);
      this.#notBefore.set(name, Date.now() + BACK_OFF);
      if (this.#running.get(name) === child) this.#running.delete(name);
    });
  }

  #spawn(program: string, args: string[]): ChildProcess {
    const output = openSync(this.#log, 'a');
    const stdio = ['ignore', output, output] as const;
    try {
      if (basename(program) === 'etcd') return spawn(this.#etcd, args, { stdio: [...stdio], argv0: 'etcd' });
      const script = program === 'kube-apiserver' ? [apiServer, ...args] : ['-e', 'setInterval(() => {}, 1000)'];
      return spawn(process.execPath, script, { stdio: [...stdio], argv0: program });
    } finally {
      closeSync(output);
    }
  }

  async #end(name: string, signal: NodeJS.Signals): Promise<void> {
    const child = this.#running.get(name);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    if (signal === 'SIGTERM' && this.#ending.has(child)) return;
    this.#ending.add(child);
    const exited = once(child, 'exit');
    child.kill(signal);
    const kill = setTimeout(() => {
      this.killed.push(name);
      child.kill('SIGKILL');
    }, GRACE);
    await exited;
    clearTimeout(kill);
  }
}
