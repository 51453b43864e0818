import { toCandidate } from '../backup/catalog/candidate.ts';
import { type Entry, inFuture, isLost, isVerified, isYoung, type SnapshotState } from '../backup/catalog/catalog.ts';
import { keptExports, listedIn } from '../backup/catalog/exports.ts';
import { entriesAsked, ownerOf } from '../backup/catalog/identity/identity.ts';
import { lineOf } from '../backup/catalog/identity/lineage.ts';
import { revisionOf } from '../backup/catalog/manifest.ts';
import { byTime, newerFiles, unclaimedText } from '../backup/catalog/passed-over.ts';
import { remedyOf } from '../backup/catalog/remedy.ts';
import { laterOf, newestVerified } from '../backup/catalog/select.ts';
import { decide, NO_LIST } from '../backup/retention/retention.ts';
import { AgentError, ExitCode } from '../lib/errors.ts';
import { withTimeout } from '../lib/limits/budget.ts';
import { formatBytes } from '../lib/terminal/progress.ts';
import { table } from '../lib/terminal/table.ts';
import { timeAt } from '../store/clock.ts';
import { adoptAllText } from './advice/adopt.ts';
import { adoptableText } from './advice/adoptable.ts';
import { advised, said } from './advice/advice.ts';
import { elsewhere } from './advice/elsewhere.ts';
import type { Command, CommandContext } from './cli/command.ts';
import type { CommandResult } from './cli/result.ts';
import { listClusters } from './list-clusters.ts';
import type { OpenedStore } from './shared/opened-store.ts';
import { withCatalog } from './shared/store-run.ts';

export const run: Command = (context) => withTimeout(context, isOfStore(context) ? listClusters : list);

/** Whether neither a cluster is named nor anything that needs one. */
const isOfStore = ({ settings }: CommandContext): boolean =>
  settings.text('cluster') === undefined &&
  settings.text('clusterId') === undefined &&
  settings.text('retention') === undefined;

const list = (context: CommandContext): Promise<CommandResult> =>
  withCatalog(context, async (opened) => {
    const { cluster, namespace, clusterId, store, spec, entries } = opened;
    const folder = opened.folder.path;
    const now = await timeAt(store, context);
    const dating = laterOf(new Date(), now);
    const owner = { now: dating, clusterName: cluster, namespace };
    const keep = await context.settings.keep();
    const decisions = spec.retention
      ? decide(entries.map(toCandidate), spec.retention, {
          ...owner,
          cluster: lineOf(entries, owner, { clusterId }),
          force: true,
          keep: new Map([...(await keptExports(opened.folder, entries)), ...listedIn(entries, keep)]),
          doubt: keep ? undefined : NO_LIST,
        })
      : [];
    const reasons = new Map(decisions.map(({ id, action, reasons: why }) => [id, action === 'keep' ? why : []]));
    const asked = entriesAsked(entries, opened);
    const snapshots = asked
      .filter(({ problem }) => !problem)
      .map((entry) => summary(entry, dating, reasons.get(entry.id)));
    const listing = await opened.list();
    const without = listing.withoutManifest(now);
    const lost = without.filter(isLost);
    const young = without.filter(isYoung).sort(byTime);
    const going = without.filter(({ state }) => state === 'deleting');
    const payloads = without.length;
    const place = { place: opened, settings: context.settings };
    const remedied = (entry: Entry) =>
      entry.state === 'writing' ? '' : advised(remedyOf(entry, opened, { now, entries }), place);
    const incomplete = [...asked.filter(({ problem }) => problem), ...lost].sort(byTime);
    const named = ({ id, problem }: Entry) => ({ id, problem });
    // A backup that is running is not broken.
    const [broken, unfinished] = [incomplete.map(named), young.map(named)];
    const others = payloads + asked.length === 0 ? await elsewhere(opened, context) : { text: '', isFound: false };
    const newest = asked.find((entry) => isVerified(entry) && !inFuture(entry, dating));
    const unclaimed = entries.length === 0 ? [] : listing.unclaimed(entries);
    const files = newest ? newerFiles(unclaimed, newest) : unclaimed;
    const adoptable = entries.length === 0 ? await adoptableText(opened, context) : '';
    return {
      exitCode: others.isFound ? ExitCode.nothingThere : ExitCode.done,
      text: [
        snapshots.length === 0
          ? `no ${incomplete.length > 0 ? 'complete snapshot' : 'snapshots'} of ${folder}${clusterId === undefined ? '' : ` with the cluster id ${clusterId}`} in ${store.url}${payloads > 0 ? `, but ${payloads} that ${payloads === 1 ? 'has' : 'have'} no manifest` : ''}${others.text}${adoptable}`
          : table(
              [
                'ID',
                'TIME',
                'SIZE',
                'REVISION',
                'CLUSTER',
                'ENCRYPTED',
                'VERIFIED',
                ...(spec.retention ? ['KEPT BY'] : []),
              ],
              snapshots.map((snapshot) => row(snapshot, folder)),
            ),
        severalEtcds(entries, opened, dating) ?? '',
        ...snapshots.flatMap(({ id, inFuture }) => (inFuture ? [`dated in the future: ${id}`] : [])),
        ...incomplete.map(
          (entry) =>
            `${entry.state === 'unreachable' ? 'not read' : 'incomplete'}: ${entry.id}: ${entry.problem}${remedied(entry)}`,
        ),
        ...young.map((entry) => `incomplete: ${entry.id}: ${entry.problem}${remedied(entry)}`),
        ...going.map(({ id, problem }) => `incomplete: ${id}: ${problem}`),
        adoptAllText(opened, lost, { entries }, context.settings),
        ...files
          .slice(0, 1)
          .map(({ key }) => `${unclaimedText(files, newest?.id)}${advised({ kind: 'unclaimed', key }, place)}`),
      ]
        .filter((line) => line !== '')
        .join('\n'),
      data: {
        ...{ cluster, namespace, store: store.url, snapshots, broken },
        unfinished: unfinished.length > 0 ? unfinished : undefined,
        deleting: going.length > 0 ? going.map(named) : undefined,
        withoutManifest: files.length > 0 ? files.map(({ key }) => key) : undefined,
      },
    };
  });

/** Why commands that take the newest snapshot refuse to choose, in their words. */
function severalEtcds(entries: readonly Entry[], opened: OpenedStore, now: Date): string | undefined {
  try {
    newestVerified(entries, opened, opened.store.url, { now });
    return undefined;
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    return `${said(error)}; of a snapshot that was taken by mistake, delete the manifest (ID.json) and then the payload (ID.db…) with the store's own tools`;
  }
}

type Summary = ReturnType<typeof summary>;

function summary(entry: Entry, now: Date, keptBy: readonly string[] | undefined) {
  const { manifest, verification, pinned, id } = entry;
  const suspect = manifest?.source.suspect;
  const level = verification?.outcome === 'verified' ? verification.level : manifest?.verified?.level;
  return {
    id,
    createdAt: manifest?.createdAt,
    sizeBytes: manifest?.content.sizeBytes,
    storedBytes: manifest?.object.sizeBytes,
    cluster: ownerOf(entry),
    clusterId: manifest?.source.clusterId,
    revision: manifest && revisionOf(manifest),
    verified: isVerified(entry),
    state: entry.state,
    level,
    verificationFailed: verification?.outcome === 'failed' ? (verification.detail ?? true) : undefined,
    suspect,
    pinned,
    encrypted: manifest?.object.encryption !== undefined,
    inFuture: inFuture(entry, now) ? true : undefined,
    keptBy,
  };
}

const states: Partial<Record<SnapshotState, string>> = { suspect: 'SUSPECT', failed: 'FAILED' };

function row(snapshot: Summary, folder: string): string[] {
  const state = snapshot.verified ? snapshot.level : (states[snapshot.state] ?? 'no');
  return [
    snapshot.id,
    snapshot.createdAt ?? '',
    formatBytes(snapshot.sizeBytes ?? 0),
    String(snapshot.revision ?? '?'),
    // Snapshots of another cluster do not count for this one.
    snapshot.cluster === folder ? (snapshot.clusterId ?? '?') : `FOREIGN ${snapshot.cluster}`,
    snapshot.encrypted ? 'age' : 'no',
    `${state}${snapshot.pinned ? ', pinned' : ''}`,
    ...(snapshot.keptBy ? [snapshot.keptBy.join(', ') || 'no rule'] : []),
  ];
}
