import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../lib/errors.ts';
import { lockVolume } from '../../lib/files/volume-lock.ts';
import type { Log } from '../../lib/log.ts';
import type { MemberConfig } from '../member-config.ts';
import type { RecordSource } from '../record/record-source.ts';
import type { StatusServer } from '../status-server.ts';
import type { AtStep } from '../steps.ts';
import { Sidecar } from './sidecar.ts';

/** Between two looks until the member runs and is known to be the right one, in ms. */
const LOOK = 200;

export interface ServeDeps {
  readonly record: RecordSource;
  readonly server: StatusServer;
  readonly log: Log;
  /** Ends it at once: etcd is gone by then. */
  readonly signal: AbortSignal;
  readonly at: AtStep;
}

/** Looks after the etcd beside it, until the signal. It never ends by itself, and moves no data. */
export async function serve(config: MemberConfig, deps: ServeDeps): Promise<void> {
  const { server, log, signal } = deps;
  const sidecar = await Sidecar.open(config, deps);
  server.status = () => sidecar.status();
  server.ready = () => sidecar.ready();
  server.metrics = () => sidecar.metrics();
  try {
    const onWait = (why: 'busy' | Error) => sidecar.waitsForLock(why);
    const lock = await lockVolume(config.dataDir, { signal, poll: LOOK, onWait });
    await watch(sidecar, config, signal).finally(() => lock.release());
  } catch (error) {
    if (!signal.aborted) throw error;
    log.info(`ends: ${messageOf(signal.reason)}`);
  }
}

async function watch(sidecar: Sidecar, { poll }: MemberConfig, signal: AbortSignal): Promise<never> {
  while (true) {
    await sidecar.look().catch((error) => sidecar.failed(error));
    await sleep(sidecar.settled ? poll * (0.5 + Math.random()) : LOOK, undefined, { signal });
  }
}
