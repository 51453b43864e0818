import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { walIdentity } from '../../etcd/offline/wal.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { Finding, Remark } from '../../lib/finding.ts';
import { API_MANIFESTS, API_SERVER_MANIFEST, manifestsIn, moveManifests, startManifests } from '../node/manifests.ts';
import { ETCD_MANIFEST } from '../node/node.ts';
import {
  apiServerOf,
  apiServerTrouble,
  etcdTrouble,
  otherCluster,
  removedMembers,
  serveTrouble,
} from '../state/health.ts';
import { blocksRestore } from '../state/members-left-out.ts';
import { parseInitialCluster, titleOf } from '../state/snapshot-members.ts';
import { stillRunning } from '../state/still-running.ts';
import { clearAlarms, makeRoom } from './alarms.ts';
import type { Journal, JournalContent, JournalState } from './journal.ts';
import { discardPrepared, replaceMember } from './replace-member.ts';
import { stopNode } from './stop-node.ts';
import { type RestoreContext, waitUntilClear } from './wait.ts';

/** In ms. A pod that returns before the kubelet has finished its predecessor, in about a second, waits 10 to 15 s. */
const FINISHED = 3_000;

const refused = (message: string, finding?: Finding) => new AgentError(ExitCode.refused, message, { finding });
const timedOut = (message: string, finding?: Finding) => new AgentError(ExitCode.timedOut, message, { finding });

type Step = (journal: Journal, context: RestoreContext) => Promise<JournalState>;

/** The step after each state. Every step can be killed at any point and started again. */
const steps: Partial<Record<JournalState, Step>> = {
  prepared: stop,
  stopped: replace,
  replaced: waitForOthers,
  starting: startEtcd,
  served: startApiServer,
};

/** Continues from the state in the journal, up to the state `until`. */
export async function continueRestore(journal: Journal, until: JournalState, context: RestoreContext): Promise<void> {
  for (;;) {
    context.signal.throwIfAborted();
    const { state } = journal.content;
    const step = steps[state];
    if (state === until || !step) return;
    await journal.set({ state: await step(journal, context) });
  }
}

/** Stops API server and etcd. Puts everything back if they do not stop in time. */
async function stop(journal: Journal, context: RestoreContext): Promise<JournalState> {
  const { node, manifestsDir } = journal.content;
  context.progress.phase('stop', 'API server and etcd');
  const reason = await stopNode(journal, context);
  if (reason === undefined) {
    if (node.kind === 'static-pod') await sleep(FINISHED, undefined, { signal: context.signal });
    return 'stopped';
  }
  await moveManifests(await manifestsIn(journal.manifests), journal.manifests, manifestsDir);
  await discardPrepared(node.member);
  await journal.discard();
  throw refused(`${reason}; everything was put back`, { kind: 'notStopped' });
}

async function replace(journal: Journal, context: RestoreContext): Promise<JournalState> {
  const { progress } = context;
  const { node, replacedDir, id, clusterId } = journal.content;
  // It may have been started again between two runs.
  const reason = await waitUntilClear(() => stillRunning(node), context);
  if (reason !== undefined) throw refused(`${reason}; stop it, then run this command again`);
  progress.phase('replace', `the old data go to ${replacedDir}`);
  await replaceMember(node.member, replacedDir, journal.content);
  const found = await walIdentity(node.member.dataDir, node.member.walDir);
  if (found?.clusterId !== clusterId) {
    throw refused(
      `the write-ahead log in ${node.member.walDir ?? node.member.dataDir} belongs to ${found ? `the cluster ${found.clusterId}` : 'no cluster'}, not to the restored cluster ${clusterId}`,
      { kind: 'otherLog' },
    );
  }
  progress.phase('replaced', id);
  return 'replaced';
}

async function waitForOthers(journal: Journal, context: RestoreContext): Promise<JournalState> {
  const { others, leftOut = [], clusterId, node } = journal.content;
  context.progress.phase('others', 'waiting until no other node serves the old cluster');
  const servesOld = async (): Promise<Remark | undefined> => {
    const other = await otherCluster(others, clusterId, node.member, blocksRestore(journal.content));
    if (!other) return undefined;
    const left = leftOut.find(({ peerUrls }) => peerUrls.includes(other.url));
    return left
      ? {
          message: `${titleOf(left)}, which is not a member of the restored cluster, serves the old one again (${other.clusterId}); stop the API server and etcd there, then run this command here again`,
        }
      : {
          message: `etcd on ${other.host} still serves the old cluster, or the cluster of another restore (${other.clusterId})`,
          finding: { kind: 'servesOld' },
        };
  };
  const reason = await waitUntilClear(servesOld, context);
  if (reason !== undefined) throw timedOut(reason.message, reason.finding);
  return 'starting';
}

async function startEtcd(journal: Journal, context: RestoreContext): Promise<JournalState> {
  const { node, manifestsDir } = journal.content;
  await journal.set({ etcdStartedAt: journal.content.etcdStartedAt ?? new Date().toISOString() });
  context.progress.phase('start', 'etcd');
  await startManifests([ETCD_MANIFEST], journal.manifests, manifestsDir);
  if (node.kind !== 'static-pod' && (await etcdTrouble(node.member))) {
    context.log.warn(`start etcd now, because the agent does not: ${startCommand(node.kind)}`);
  }
  const reason = await waitUntilServing(journal, context);
  if (reason !== undefined) throw await notServing(reason, journal.content);
  await journal.set({ servedAt: new Date().toISOString() });
  return 'served';
}

function waitUntilServing(journal: Journal, context: RestoreContext): Promise<string | undefined> {
  const { node, clusterId } = journal.content;
  const clear = () => clearAlarms(node, journal.content, context.log);
  return waitUntilClear(async () => {
    const trouble = await serveTrouble(node.member, clusterId, clear);
    if (trouble !== undefined) return trouble;
    await refuseAlone(journal);
    return makeRoom(node);
  }, context);
}

/** Nothing that is waited for brings a removed member back. With its journal, this restore could neither go on nor be followed by another. */
async function refuseAlone({ content, folder, manifests }: Journal): Promise<void> {
  const { node, initialCluster, manifestsDir } = content;
  const removed = await removedMembers(node.member, parseInitialCluster(initialCluster));
  if (removed.length === 0) return;
  throw refused(`etcd does not list ${removed.map(titleOf).join(', ')}, restored with it`, {
    kind: 'membersRemoved',
    manifests,
    manifestsDir,
    folder,
  });
}

async function notServing(trouble: string, content: JournalContent): Promise<AgentError> {
  const { node, others, clusterId, id, bump } = content;
  if (others.length === 0) return timedOut(`${trouble}; check its log, then run this command again`);
  const other = await otherCluster(others, clusterId, node.member, blocksRestore(content));
  return other === undefined
    ? timedOut(`${trouble}; check its log, run this command on the other nodes too, then run it here again`)
    : timedOut(`${trouble}; etcd on ${other.host} serves another cluster (${other.clusterId})`, {
        ...{ kind: 'restoredOtherwise', id, bump },
      });
}

async function startApiServer(journal: Journal, context: RestoreContext): Promise<JournalState> {
  const { manifestsDir } = journal.content;
  // etcd may have been restarted on other data since the journal noted `served`.
  const trouble = await waitUntilServing(journal, context);
  if (trouble !== undefined) throw await notServing(trouble, journal.content);
  await startManifests(API_MANIFESTS, journal.manifests, manifestsDir);
  if (!(await manifestsIn(manifestsDir)).includes(API_SERVER_MANIFEST)) return 'done';
  context.progress.phase('api-server');
  const server = await apiServerOf(join(manifestsDir, API_SERVER_MANIFEST));
  const reason = await waitUntilClear(() => apiServerTrouble(server), context);
  if (reason !== undefined) throw timedOut(`${reason}; check its log, then run this command again`);
  return 'done';
}

export const startCommand = (kind: string): string =>
  kind === 'systemd' ? 'systemctl start etcd' : 'systemctl start etcd, or whatever runs it';
