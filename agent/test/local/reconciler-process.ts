import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isStopped } from '../harness/stopped.ts';
import { Container, nodeCommand } from './pods/container.ts';
import { setPause } from './pods/crash.ts';
import type { FileStore } from './store.ts';

/** The Deployment of the reconciler: one process, restarted when it ends. */
export class ReconcilerProcess {
  readonly #dir: string;
  readonly #store: FileStore;
  readonly #paused: Container[] = [];
  #container: Container | undefined;

  constructor(dir: string, store: FileStore) {
    this.#dir = dir;
    this.#store = store;
  }

  start(): void {
    if (this.#container) return;
    const command = [...nodeCommand(join(import.meta.dirname, 'reconciler.mts')), this.#dir];
    this.#container = new Container({ command, log: join(this.#dir, 'logs/reconciler.log') });
    this.#container.keep();
  }

  /**
   * Waits until it pauses before an effect and lets another reconciler take over. The result executes the late effect.
   */
  async supersede(point: string): Promise<() => Promise<void>> {
    const old = this.#container;
    if (!old) throw new Error('the reconciler does not run');
    setPause(this.#dir, point);
    while (old.pid === undefined || !isStopped(old.pid)) await sleep(50);
    this.#container = undefined;
    this.start();
    this.#paused.push(old);
    return () => old.resumeOnce();
  }

  async stop(): Promise<void> {
    const container = this.#container;
    this.#container = undefined;
    await Promise.all([container, ...this.#paused].map((each) => each?.stop(0)));
  }

  signal(signal: NodeJS.Signals): void {
    this.#container?.signal(signal);
  }

  /** Pauses it, but never while it holds the lock of the store. */
  async pause(): Promise<void> {
    const pid = this.#container?.pid;
    if (pid === undefined) throw new Error('the reconciler does not run');
    this.#store.locked(() => {
      process.kill(pid, 'SIGSTOP');
      while (!isStopped(pid));
    });
    await sleep(0);
  }
}
