import { setTimeout as sleep } from 'node:timers/promises';
import { AgentError, ExitCode, messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { ApiClient } from './api-client.ts';
import { isStatus, unlessMissing } from './api-error.ts';
import type { LeaseObject } from './objects.ts';
import type { Paths } from './paths.ts';

export interface LeaseOptions {
  readonly client: ApiClient;
  readonly paths: Paths;
  readonly name: string;
  /** Name of this process. No other process may use it. */
  readonly holder: string;
  /** True if that holder certainly runs no longer, so that its Lease need not be waited for. */
  readonly isGone?: (holder: string) => Promise<boolean>;
  /** True if a process had this Lease before. If it is missing then, somebody deleted it, and its holder may still run. */
  readonly wasHeld?: () => Promise<boolean>;
  /**
   * Milliseconds: validity of the Lease without a renewal, time without a renewal after which it is given up, and
   * pause between attempts.
   */
  readonly settings: { readonly lease: number; readonly renew: number; readonly retry: number };
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** Another process may hold the Lease now. */
export class LeaseLost extends AgentError {}

/** Attempts that a holder must have missed before it is asked whether it is gone: it may end its work after a signal. */
const missed = 3;

/**
 * Ensures that only one of several reconcilers works: the holder of the Lease. Others take it when it is no longer
 * renewed.
 */
export class Lease {
  readonly #options: LeaseOptions;
  /** Last state of the Lease and when this process first saw it. Clocks of different machines are never compared. */
  #seen = { what: '', at: 0 };
  #renewedAt: number | undefined;
  #logged = '';

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** True as long as no other process can have taken the Lease, unless our pod was deleted by force. */
  get held(): boolean {
    return this.#renewedAt !== undefined && performance.now() - this.#renewedAt < this.#options.settings.lease;
  }

  /** Returns true if nobody holds the Lease, as far as this process has seen. */
  async isFree(): Promise<boolean> {
    const { client, paths, name } = this.#options;
    const found = await client.get<LeaseObject>(paths.of('leases', name)).catch(unlessMissing);
    return this.#isFree(found) || (found !== undefined && (await this.#isOrphan(found)));
  }

  /** Resolves when this process holds the Lease. */
  async acquire(signal: AbortSignal): Promise<void> {
    const { settings, log, name } = this.#options;
    let waits = false;
    for (;;) {
      signal.throwIfAborted();
      try {
        if (await this.#take()) return;
        if (!waits) log.info({ lease: name }, 'waiting: another reconciler holds the Lease');
        waits = true;
      } catch (error) {
        this.#warnOnce(`cannot acquire the Lease ${name}: ${messageOf(error)}`);
      }
      await sleep(settings.retry * (0.8 + Math.random() * 0.4), undefined, { signal });
    }
  }

  /** Renews the Lease until the signal is aborted. Throws if the Lease is lost. */
  async hold(signal: AbortSignal): Promise<void> {
    const { settings, name } = this.#options;
    while (!signal.aborted) {
      await sleep(settings.retry, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      let why = 'it was not renewed in time';
      try {
        if (await this.#take()) continue;
        throw this.#lost('another reconciler holds it');
      } catch (error) {
        if (error instanceof LeaseLost) throw error;
        why = messageOf(error);
        this.#warnOnce(`cannot renew the Lease ${name}: ${why}`);
      }
      if (performance.now() - (this.#renewedAt ?? 0) > settings.renew) throw this.#lost(why);
    }
  }

  /** Releases the Lease, so that another reconciler can take it at once. */
  async release(): Promise<void> {
    const { client, paths, name, holder } = this.#options;
    if (this.#renewedAt === undefined) return;
    this.#renewedAt = undefined;
    const path = paths.of('leases', name);
    const found = await client.get<LeaseObject>(path);
    if (found.spec?.holderIdentity !== holder) return;
    const now = microTime();
    await client.replace(path, {
      ...found,
      spec: { ...found.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now },
    } as LeaseObject);
  }

  #lost(why: string): LeaseLost {
    this.#renewedAt = undefined;
    return new LeaseLost(ExitCode.unexpected, `the Lease ${this.#options.name} is lost: ${why}`);
  }

  #warnOnce(message: string): void {
    if (message !== this.#logged) this.#options.log.warn(message);
    this.#logged = message;
  }

  /** Creates, renews or takes over the Lease. Returns false if another process holds it. */
  async #take(): Promise<boolean> {
    const { client, paths, name, holder } = this.#options;
    const startedAt = performance.now();
    const path = paths.of('leases', name);
    const found = await client.get<LeaseObject>(path).catch(unlessMissing);
    const isNew = found === undefined && (this.held || (await this.#isFirst()));
    if (!isNew && !this.#isFree(found) && !(found && (await this.#isOrphan(found)))) return false;
    try {
      if (found) await client.replace(path, { ...found, spec: this.#spec(found) } as LeaseObject);
      else
        await client.create(paths.of('leases'), {
          apiVersion: 'coordination.k8s.io/v1',
          kind: 'Lease',
          metadata: { name },
          spec: this.#spec(undefined),
        });
    } catch (error) {
      // Another write came first. The next attempt shows whether it was another holder.
      if (isStatus(error, 409)) return this.held && found?.spec?.holderIdentity === holder;
      throw error;
    }
    this.#renewedAt = startedAt;
    this.#logged = '';
    return true;
  }

  async #isFirst(): Promise<boolean> {
    const { wasHeld = async () => false } = this.#options;
    return this.#seen.what === '' && !(await wasHeld());
  }

  /** Whoever held one that was deleted does not know that before it renews it. */
  #isFree(found: LeaseObject | undefined): boolean {
    const { holderIdentity, leaseDurationSeconds, renewTime } = found?.spec ?? {};
    const what = found ? `${found.metadata.uid} ${holderIdentity} ${renewTime}` : 'missing';
    if (what !== this.#seen.what) this.#seen = { what, at: performance.now() };
    if (found && (!holderIdentity || holderIdentity === this.#options.holder)) return true;
    const lease = leaseDurationSeconds === undefined ? this.#options.settings.lease : leaseDurationSeconds * 1000;
    return performance.now() - this.#seen.at > lease;
  }

  /** Its holder was deleted together with its rights, for example, and could not release it. */
  async #isOrphan({ spec }: LeaseObject): Promise<boolean> {
    const { settings, isGone = async () => false } = this.#options;
    if (performance.now() - this.#seen.at <= missed * settings.retry) return false;
    return await isGone(spec?.holderIdentity ?? '');
  }

  #spec(found: LeaseObject | undefined): NonNullable<LeaseObject['spec']> {
    const { holder, settings } = this.#options;
    const now = microTime();
    const ours = found?.spec?.holderIdentity === holder;
    return {
      holderIdentity: holder,
      leaseDurationSeconds: Math.ceil(settings.lease / 1000),
      acquireTime: (ours && found.spec?.acquireTime) || now,
      renewTime: now,
      leaseTransitions: (found?.spec?.leaseTransitions ?? 0) + (found?.spec && !ours ? 1 : 0),
    };
  }
}

/** Time with microseconds, which Kubernetes requires in a Lease. */
const microTime = (): string => new Date().toISOString().replace('Z', '000Z');
