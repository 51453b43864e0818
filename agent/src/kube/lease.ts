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
  /** Of this process, and of no other. */
  readonly holder: string;
  /** In milliseconds: how long it is held without being renewed, when it is given up, and between two tries. */
  readonly settings: { readonly lease: number; readonly renew: number; readonly retry: number };
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** Lets one of several reconcilers work: the one that holds the Lease, which others take when it is no longer renewed. */
export class Lease {
  readonly #options: LeaseOptions;
  /** What the Lease said last, and when that was new here: no clock of another machine is compared with ours. */
  #seen = { what: '', at: 0 };
  #renewedAt: number | undefined;
  #complaint = '';

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** Nobody else can have taken it yet. */
  get held(): boolean {
    return this.#renewedAt !== undefined && performance.now() - this.#renewedAt < this.#options.settings.lease;
  }

  /** Resolves when it is held. */
  async acquire(signal: AbortSignal): Promise<void> {
    const { settings, log, name } = this.#options;
    let waits = false;
    for (;;) {
      signal.throwIfAborted();
      try {
        if (await this.#take()) return;
        if (!waits) log.info({ lease: name }, 'another reconciler holds the Lease; this one waits');
        waits = true;
      } catch (error) {
        this.#complain(`the Lease ${name} cannot be had: ${messageOf(error)}`);
      }
      await sleep(settings.retry * (0.8 + Math.random() * 0.4), undefined, { signal });
    }
  }

  /** Renews it until the signal; throws when it is lost. */
  async hold(signal: AbortSignal): Promise<void> {
    const { settings, name } = this.#options;
    while (!signal.aborted) {
      await sleep(settings.retry, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      let why = 'it was not renewed in time';
      try {
        if (await this.#take()) continue;
        throw this.#lost('another reconciler has it');
      } catch (error) {
        if (error instanceof AgentError) throw error;
        why = messageOf(error);
        this.#complain(`the Lease ${name} could not be renewed: ${why}`);
      }
      if (performance.now() - (this.#renewedAt ?? 0) > settings.renew) throw this.#lost(why);
    }
  }

  /** Lets the next one begin at once. */
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

  #lost(why: string): AgentError {
    this.#renewedAt = undefined;
    return new AgentError(ExitCode.unexpected, `the Lease ${this.#options.name} is lost: ${why}`);
  }

  #complain(message: string): void {
    if (message !== this.#complaint) this.#options.log.warn(message);
    this.#complaint = message;
  }

  /** Makes, renews or takes over the Lease; false: another one holds it. */
  async #take(): Promise<boolean> {
    const { client, paths, name, holder } = this.#options;
    const startedAt = performance.now();
    const path = paths.of('leases', name);
    const found = await client.get<LeaseObject>(path).catch(unlessMissing);
    if (found && !this.#isFree(found)) return false;
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
      // Somebody was faster; whether it was another holder, the next look tells.
      if (isStatus(error, 409)) return this.held && found?.spec?.holderIdentity === holder;
      throw error;
    }
    this.#renewedAt = startedAt;
    this.#complaint = '';
    return true;
  }

  #isFree({ spec, metadata }: LeaseObject): boolean {
    const { holderIdentity, leaseDurationSeconds } = spec ?? {};
    const what = `${metadata.uid} ${holderIdentity} ${spec?.renewTime}`;
    if (what !== this.#seen.what) this.#seen = { what, at: performance.now() };
    if (!holderIdentity || holderIdentity === this.#options.holder) return true;
    const lease = leaseDurationSeconds === undefined ? this.#options.settings.lease : leaseDurationSeconds * 1000;
    return performance.now() - this.#seen.at > lease;
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

/** Kubernetes refuses times of a Lease without microseconds. */
const microTime = (): string => new Date().toISOString().replace('Z', '000Z');
