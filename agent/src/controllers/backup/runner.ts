import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { pause, Trigger } from '../../lib/trigger.ts';
import type { EtcdBackupObject } from '../objects/backup-object.ts';
import type { ReconcilerSettings } from '../port/settings.ts';
import { type BackupPass, type BackupPassOptions, backupPass } from './pass.ts';

export interface BackupRunnerOptions extends BackupPassOptions {
  readonly settings: Pick<ReconcilerSettings, 'steady' | 'op' | 'next' | 'backoffMin' | 'backoffMax' | 'failuresTold'>;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly onEnd: () => void;
  /** Runs a pass when it is its turn. */
  readonly turn: (work: () => Promise<BackupPass>) => Promise<BackupPass>;
}

/** Runs one EtcdBackup to its end, independently of all others. */
export class BackupRunner {
  readonly uid: string;
  readonly #name: string;
  readonly #options: BackupRunnerOptions;
  readonly #stop = new AbortController();
  readonly #wake = new Trigger();
  readonly #ended: Promise<void>;
  #warned = '';

  constructor({ metadata }: EtcdBackupObject, options: BackupRunnerOptions) {
    this.uid = metadata.uid;
    this.#name = metadata.name;
    this.#options = options;
    this.#ended = this.#run();
  }

  /** Starts the next pass at once. */
  trigger(): void {
    this.#wake.now();
  }

  /** Starts no further pass. Resolves when the current one has ended, or `grace` ms later. */
  async stop(grace: number): Promise<void> {
    this.#stop.abort();
    const timer = new AbortController();
    await Promise.race([this.#ended, sleep(grace, undefined, { signal: timer.signal }).catch(() => {})]);
    timer.abort();
  }

  async #run(): Promise<void> {
    const { settings, onEnd, turn } = this.#options;
    const { signal } = this.#stop;
    let failures = 0;
    while (!signal.aborted) {
      try {
        const { done, acted, starting } = await turn(() => {
          signal.throwIfAborted();
          return backupPass(this.#name, this.uid, { ...this.#options, fails: failures >= settings.failuresTold });
        });
        failures = 0;
        if (done) return onEnd();
        await pause(
          { signal, wake: this.#wake.wait },
          acted ? settings.next : starting ? settings.op : settings.steady,
        );
      } catch (error) {
        if (signal.aborted) return;
        this.#warn(messageOf(error));
        await pause({ signal }, Math.min(settings.backoffMin * 2 ** failures++, settings.backoffMax));
      }
    }
  }

  /** Logs a repeated message once. */
  #warn(message: string): void {
    if (message !== this.#warned) this.#options.log.warn(message);
    this.#warned = message;
  }
}
