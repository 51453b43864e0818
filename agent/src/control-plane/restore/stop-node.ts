import { basename, join } from 'node:path';
import { codeOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { API_MANIFESTS, moveManifests } from '../node/manifests.ts';
import { ETCD_MANIFEST } from '../node/node.ts';
import { etcdStartedBy, type Process, processesOf } from '../node/processes.ts';
import { readStaticPod } from '../node/static-pod.ts';
import { etcdTrouble } from '../state/health.ts';
import { apiServerStillRunning, etcdStillRunning, stillRunning } from '../state/still-running.ts';
import type { Journal, JournalContent } from './journal.ts';
import { type RestoreContext, waitUntilClear } from './wait.ts';

/** How long after its manifest is gone a process is ended, in ms. The guide names these times. */
const END_AFTER = 5_000;
/** Without an etcd that has a quorum an API server has nothing left to serve, and takes half a minute to end. */
const END_IDLE_AFTER = 1_000;
/** A leader that ends tries for 7 s to hand over, in vain if the others end too. */
const END_ETCD_AFTER = 10_000;
/** How long after that it is killed. */
const KILL_AFTER = 5_000;
/** The kubelet reads its folder every 20 s, also if it has missed the change. Until then it starts again what has ended. */
const NOTICED = 25_000;

/**
 * Moves the manifests out and waits until the API server has stopped, then etcd: without etcd, the API server takes half a minute
 * to end. Returns what still runs when the time is up.
 */
export async function stopNode(journal: Journal, context: RestoreContext): Promise<string | undefined> {
  const { node, manifestsDir } = journal.content;
  await moveManifests([...API_MANIFESTS].reverse(), manifestsDir, journal.manifests);
  const endApi = ending(API_MANIFESTS, journal, context);
  const server = await waitUntilClear(async () => {
    const reason = await apiServerStillRunning(node);
    if (reason !== undefined) await endApi();
    return reason;
  }, context);
  if (server !== undefined) return server;
  await moveManifests([ETCD_MANIFEST], manifestsDir, journal.manifests);
  if (node.kind !== 'static-pod' && (await etcdStillRunning(node))) {
    context.log.warn(`stop etcd now, because the agent does not: ${stopCommand(node.kind)}`);
  }
  const movedAt = performance.now();
  const endAll = ending([...API_MANIFESTS, ETCD_MANIFEST], journal, context);
  let ended = false;
  return waitUntilClear(async () => {
    const reason = await stillRunning(node);
    if (reason !== undefined) {
      ended = (await endAll()) || ended;
      return reason;
    }
    return ended && performance.now() < movedAt + NOTICED ? 'the kubelet may not have read its folder yet' : undefined;
  }, context);
}

/**
 * Returns a function that ends what these manifests have started, once the time for it has come, and says whether it has. A kubelet
 * that has not heard from an API server since its start stops nothing.
 */
function ending(
  names: readonly string[],
  { manifests, content }: Journal,
  { log }: RestoreContext,
): () => Promise<boolean> {
  const since = performance.now();
  const sent = new Map<number, NodeJS.Signals>();
  return async () => {
    const idle = (await etcdTrouble(content.node.member)) !== undefined;
    const ran = performance.now() - since;
    for (const name of names) {
      const signal = signalDue(name, ran, idle);
      if (!signal) continue;
      for (const { pid } of await startedBy(join(manifests, name), content)) {
        if (sent.get(pid) === signal) continue;
        sent.set(pid, signal);
        log.warn(
          `the kubelet has not stopped ${basename(name, '.yaml')} (pid ${pid}) yet; the agent ends it (${signal})`,
        );
        end(pid, signal, log);
      }
    }
    return sent.size > 0;
  };
}

/** What ends the process of a manifest that is gone for so long, in ms. @param idle without an etcd that serves */
export function signalDue(manifest: string, gone: number, idle: boolean): NodeJS.Signals | undefined {
  const endAfter = idle ? END_IDLE_AFTER : END_AFTER;
  const late = gone - (manifest === ETCD_MANIFEST ? END_ETCD_AFTER : endAfter);
  if (late < 0) return undefined;
  return late < KILL_AFTER ? 'SIGTERM' : 'SIGKILL';
}

async function startedBy(manifest: string, { node }: Pick<JournalContent, 'node'>): Promise<Process[]> {
  // Without its manifest nothing is ended, and the wait says what still runs.
  const pod = await readStaticPod(manifest, basename(manifest, '.yaml')).catch(() => undefined);
  if (!pod) return [];
  return basename(manifest) === ETCD_MANIFEST ? etcdStartedBy(pod, node) : processesOf(pod);
}

function end(pid: number, signal: NodeJS.Signals, log: Log): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // Without such a process it has ended meanwhile.
    if (codeOf(error) !== 'ESRCH') log.warn(`process ${pid} cannot be ended (${codeOf(error)}): end it by hand`);
  }
}

export const stopCommand = (kind: string): string =>
  kind === 'systemd' ? 'systemctl stop etcd' : 'systemctl stop etcd, or whatever runs it';
