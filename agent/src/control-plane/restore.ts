import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError, ExitCode } from '../errors.ts';
import type { Progress } from '../progress.ts';
import { partialDir } from './data-folders.ts';
import { etcdLeft, left } from './gone.ts';
import { apiServerTrouble, apiServerUrl, etcdTrouble, oldMember } from './health.ts';
import type { Journal, State } from './journal.ts';
import { API_MANIFESTS, API_SERVER_MANIFEST, manifestsIn, moveIn, moveOut } from './manifests.ts';
import { ETCD_MANIFEST } from './node.ts';
import { replaceMember } from './replace-member.ts';
import { type Waiting, waitUntilClear } from './wait.ts';

export interface RestoreContext extends Waiting {
  readonly progress: Progress;
}

const refused = (message: string) => new AgentError(ExitCode.refused, message);
const timedOut = (message: string) => new AgentError(ExitCode.timedOut, message);

type Step = (journal: Journal, context: RestoreContext) => Promise<State>;

/** What comes after each state. Every step may be killed anywhere, and begun again. */
const steps: Partial<Record<State, Step>> = {
  prepared: stop,
  stopped: replace,
  replaced: waitForOthers,
  starting: startEtcd,
  served: startApiServer,
};

/** Goes on from where the journal says that the last run came to. */
export async function goOn(journal: Journal, until: State, context: RestoreContext): Promise<void> {
  for (;;) {
    context.signal.throwIfAborted();
    const { state } = journal.content;
    const step = steps[state];
    if (state === until || !step) return;
    await journal.set({ state: await step(journal, context) });
  }
}

/** API server and etcd out of the kubelet's sight, and their processes gone; if they will not go, all is put back. */
async function stop(journal: Journal, context: RestoreContext): Promise<State> {
  const { node, manifestsDir } = journal.content;
  context.progress.phase('stop', 'API server and etcd');
  await moveOut(manifestsDir, journal.manifests);
  if (node.kind !== 'static-pod' && (await etcdLeft(node))) {
    context.log.warn(`stop etcd now, as nobody else will: ${stopCommand(node.kind)}`);
  }
  const reason = await waitUntilClear(() => left(node), context);
  if (reason === undefined) return 'stopped';
  await moveIn(await manifestsIn(journal.manifests), journal.manifests, manifestsDir);
  await rm(partialDir(node.member.dataDir), { recursive: true, force: true });
  await journal.discard();
  throw refused(`${reason}; all was put back as it was; stop it, or give it longer with --wait`);
}

async function replace(journal: Journal, context: RestoreContext): Promise<State> {
  const { progress } = context;
  const { node, aside, id } = journal.content;
  // Between two runs somebody may have started it again.
  const reason = await waitUntilClear(() => left(node), context);
  if (reason !== undefined) throw refused(`${reason}; stop it, then run this command again`);
  progress.phase('replace', `the old data go to ${aside}`);
  await replaceMember(node.member.dataDir, aside, journal.content);
  progress.phase('replaced', id);
  return 'replaced';
}

async function waitForOthers(journal: Journal, context: RestoreContext): Promise<State> {
  const { others, clusterId, node } = journal.content;
  context.progress.phase('others', 'no other node may serve the old cluster');
  const reason = await waitUntilClear(() => oldMember(others, clusterId, node.member), context);
  if (reason !== undefined) throw timedOut(`${reason}, then here again`);
  return 'starting';
}

async function startEtcd(journal: Journal, context: RestoreContext): Promise<State> {
  const { node, manifestsDir } = journal.content;
  await journal.set({ etcdStartedAt: journal.content.etcdStartedAt ?? new Date().toISOString() });
  context.progress.phase('start', 'etcd');
  await moveIn([ETCD_MANIFEST], journal.manifests, manifestsDir);
  if (node.kind !== 'static-pod' && (await etcdTrouble(node.member))) {
    context.log.warn(`start etcd now, as nobody else will: ${startCommand(node.kind)}`);
  }
  const reason = await waitUntilClear(() => etcdTrouble(node.member), context);
  if (reason !== undefined) {
    throw timedOut(`${reason}; look at its log, run this command on the other nodes too, then here again`);
  }
  await journal.set({ servedAt: new Date().toISOString() });
  return 'served';
}

async function startApiServer(journal: Journal, context: RestoreContext): Promise<State> {
  const { manifestsDir } = journal.content;
  await moveIn(API_MANIFESTS, journal.manifests, manifestsDir);
  if (!(await manifestsIn(manifestsDir)).includes(API_SERVER_MANIFEST)) return 'done';
  context.progress.phase('api-server');
  const url = await apiServerUrl(join(manifestsDir, API_SERVER_MANIFEST));
  const reason = await waitUntilClear(() => apiServerTrouble(url), context);
  if (reason !== undefined) throw timedOut(`${reason}; look at its log, then run this command again`);
  return 'done';
}

export const stopCommand = (kind: string): string =>
  kind === 'systemd' ? 'systemctl stop etcd' : 'systemctl stop etcd, or whatever runs it';
export const startCommand = (kind: string): string =>
  kind === 'systemd' ? 'systemctl start etcd' : 'systemctl start etcd, or whatever runs it';
