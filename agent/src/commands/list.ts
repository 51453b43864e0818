import { type Entry, isVerified } from '../backup/catalog.ts';
import { lineOf } from '../backup/lineage.ts';
import { toCandidate } from '../backup/prune.ts';
import { decide } from '../backup/retention.ts';
import type { Command } from '../command.ts';
import { inFuture } from '../metrics/samples.ts';
import { formatBytes } from '../progress.ts';
import { table } from '../table.ts';
import { withStore } from './store-run.ts';

export const run: Command = (context) =>
  withStore(context, async ({ cluster, store, spec, entries }) => {
    const owner = { now: new Date(), clusterName: cluster, namespace: context.settings.text('namespace') };
    const decisions = spec.retention
      ? decide(entries.map(toCandidate), spec.retention, { ...owner, cluster: lineOf(entries, owner), force: true })
      : [];
    const keptBy = new Map(decisions.map(({ id, action, reasons }) => [id, action === 'keep' ? reasons : []]));
    const snapshots = entries.filter(({ problem }) => !problem).map((entry) => summary(entry, keptBy.get(entry.id)));
    const broken = entries.flatMap(({ id, problem }) => (problem ? [{ id, problem }] : []));
    return {
      exitCode: 0,
      text: [
        snapshots.length === 0
          ? `no snapshots of ${cluster} in ${store.url}`
          : table(
              ['ID', 'TIME', 'SIZE', 'REVISION', 'VERIFIED', ...(spec.retention ? ['KEPT BY'] : [])],
              snapshots.map(row),
            ),
        ...snapshots.flatMap(({ id, inFuture }) => (inFuture ? [`dated in the future: ${id}`] : [])),
        ...broken.map(({ id, problem }) => `not whole: ${id}: ${problem}`),
      ].join('\n'),
      data: { cluster, store: store.url, snapshots, broken },
    };
  });

type Summary = ReturnType<typeof summary>;

function summary(entry: Entry, keptBy: readonly string[] | undefined) {
  const { manifest, verification, pinned, id } = entry;
  const suspect = manifest?.source.suspect;
  const level = verification?.outcome === 'verified' ? verification.level : manifest?.verified?.level;
  return {
    id,
    createdAt: manifest?.createdAt,
    sizeBytes: manifest?.content.sizeBytes,
    storedBytes: manifest?.object.sizeBytes,
    clusterId: manifest?.source.clusterId,
    revision: manifest?.content.hashKV?.revision,
    verified: isVerified(entry),
    level,
    ...(verification?.outcome === 'failed' && { verificationFailed: verification.detail ?? true }),
    ...(suspect && { suspect }),
    pinned,
    ...(inFuture(entry) && { inFuture: true }),
    ...(keptBy && { keptBy }),
  };
}

function row(snapshot: Summary): string[] {
  const state = snapshot.verified
    ? snapshot.level
    : snapshot.suspect
      ? 'SUSPECT'
      : snapshot.verificationFailed
        ? 'FAILED'
        : 'no';
  return [
    snapshot.id,
    snapshot.createdAt ?? '',
    formatBytes(snapshot.sizeBytes ?? 0),
    String(snapshot.revision ?? '?'),
    `${state}${snapshot.pinned ? ', pinned' : ''}`,
    ...(snapshot.keptBy ? [snapshot.keptBy.join(', ') || 'no rule'] : []),
  ];
}
