import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../lib/errors.ts';
import { lockVolume } from '../../lib/files/volume-lock.ts';
import type { MemberConfig } from '../member-config.ts';
import type { StatusServer } from '../status-server.ts';
import { Sidecar, type SidecarDeps } from './sidecar.ts';

/** Pause between two observations until the expected member runs, in ms. */
const STARTING_POLL = 200;

export interface ServeDeps extends SidecarDeps {
  readonly server: StatusServer;
}

/** Watches over the etcd of this pod until the signal aborts. Never ends by itself, and moves no data. */
export async function serve(config: MemberConfig, deps: ServeDeps): Promise<void> {
  const { server, log, signal } = deps;
  const sidecar = await Sidecar.open(config, deps);
  server.status = () => sidecar.status();
  server.ready = () => sidecar.ready();
  server.metrics = () => sidecar.metrics();
  try {
    const onWait = (why: 'busy' | Error) => sidecar.waitsForLock(why);
    const lock = await lockVolume(config.dataDir, { signal, poll: STARTING_POLL, onWait });
    await observe(sidecar, config, signal).finally(() => lock.release());
  } catch (error) {
    if (!signal.aborted) throw error;
    log.info(`stopping: ${messageOf(signal.reason)}`);
  }
}

async function observe(sidecar: Sidecar, { poll }: MemberConfig, signal: AbortSignal): Promise<never> {
  while (true) {
    await sidecar.observe().catch((error) => sidecar.failed(error));
    await sleep(sidecar.isSteady ? poll * (0.5 + Math.random()) : STARTING_POLL, undefined, { signal });
  }
}
