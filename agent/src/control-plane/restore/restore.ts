import { join } from 'node:path';
import { walIdentity } from '../../etcd/offline/wal.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { Progress } from '../../lib/terminal/progress.ts';
import { API_MANIFESTS, API_SERVER_MANIFEST, manifestsIn, moveIn, moveOut } from '../node/manifests.ts';
import { ETCD_MANIFEST } from '../node/node.ts';
import { etcdLeft, left } from '../state/gone.ts';
import { apiServerTrouble, apiServerUrl, etcdTrouble, otherCluster, serveTrouble } from '../state/health.ts';
import { isInTheWay, titleOf } from '../state/left-out.ts';
import type { Journal, JournalContent, State } from './journal.ts';
import { discardMade, replaceMember } from './replace-member.ts';
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
  await discardMade(node.member);
  await journal.discard();
  throw refused(`${reason}; all was put back as it was; stop it, or give it longer with --wait`);
}

async function replace(journal: Journal, context: RestoreContext): Promise<State> {
  const { progress } = context;
  const { node, aside, id, clusterId } = journal.content;
  // Between two runs somebody may have started it again.
  const reason = await waitUntilClear(() => left(node), context);
  if (reason !== undefined) throw refused(`${reason}; stop it, then run this command again`);
  progress.phase('replace', `what was there goes to ${aside}`);
  await replaceMember(node.member, aside, journal.content);
  const found = await walIdentity(node.member.dataDir, node.member.walDir);
  if (found?.clusterId !== clusterId) {
    throw refused(
      `the write-ahead log in ${node.member.walDir ?? node.member.dataDir} is of ${found ? `the cluster ${found.clusterId}` : 'no cluster'}, not of ${clusterId}, which was restored; go back with --undo`,
    );
  }
  progress.phase('replaced', id);
  return 'replaced';
}

async function waitForOthers(journal: Journal, context: RestoreContext): Promise<State> {
  const { others, leftOut = [], clusterId, node } = journal.content;
  context.progress.phase('others', 'no other node may serve the old cluster');
  const old = async () => {
    const other = await otherCluster(others, clusterId, node.member, isInTheWay(journal.content));
    if (!other) return undefined;
    const left = leftOut.find(({ peerUrls }) => peerUrls.includes(other.url));
    return left
      ? `${titleOf(left)}, which is no member of the restored cluster, serves the old one again (${other.clusterId}); stop API server and etcd there`
      : `etcd on ${other.host} still serves the old cluster, or that of another restore (${other.clusterId}); run this command there too, with the same snapshot and number`;
  };
  const reason = await waitUntilClear(old, context);
  if (reason !== undefined) throw timedOut(`${reason}, then here again`);
  return 'starting';
}

async function startEtcd(journal: Journal, context: RestoreContext): Promise<State> {
  const { node, clusterId, manifestsDir } = journal.content;
  await journal.set({ etcdStartedAt: journal.content.etcdStartedAt ?? new Date().toISOString() });
  context.progress.phase('start', 'etcd');
  await moveIn([ETCD_MANIFEST], journal.manifests, manifestsDir);
  if (node.kind !== 'static-pod' && (await etcdTrouble(node.member))) {
    context.log.warn(`start etcd now, as nobody else will: ${startCommand(node.kind)}`);
  }
  const reason = await waitUntilClear(() => serveTrouble(node.member, clusterId), context);
  if (reason !== undefined) throw timedOut(`${reason}; ${await whatToDo(journal.content)}`);
  await journal.set({ servedAt: new Date().toISOString() });
  return 'served';
}

async function whatToDo(content: JournalContent): Promise<string> {
  const { node, others, clusterId, id, bump } = content;
  if (others.length === 0) return 'look at its log, then run this command again';
  const other = await otherCluster(others, clusterId, node.member, isInTheWay(content));
  return other === undefined
    ? 'look at its log, run this command on the other nodes too, then here again'
    : `etcd on ${other.host} serves another cluster (${other.clusterId}): it was restored from another snapshot, or with another number than ${id} and --bump-revision=${bump} here. Where the wrong one was taken go back with --undo, and restore what the others have`;
}

async function startApiServer(journal: Journal, context: RestoreContext): Promise<State> {
  const { node, clusterId, manifestsDir } = journal.content;
  // Since it was noted, etcd may have been started on other data.
  const trouble = await waitUntilClear(() => serveTrouble(node.member, clusterId), context);
  if (trouble !== undefined) throw timedOut(`${trouble}; ${await whatToDo(journal.content)}`);
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
