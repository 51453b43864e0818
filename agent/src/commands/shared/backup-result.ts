import { exportKeys } from '../../backup/catalog/exports.ts';
import type { SnapshotManifest } from '../../backup/catalog/manifest.ts';
import { clusterLabels, retentionSamples, sizeSamples } from '../../backup/metrics/samples.ts';
import type { BackupOutcome, TargetOutcome } from '../../backup/take/request.ts';
import { ExitCode } from '../../lib/errors.ts';
import { type Sample, sample, samples, seconds } from '../../lib/metrics/sample.ts';
import { formatBytes } from '../../lib/terminal/progress.ts';
import type { KnownPlace } from '../advice/adopt.ts';
import { said, told } from '../advice/advice.ts';
import type { CommandResult } from '../cli/result.ts';

/** Result of the `backup` and `salvage` commands. `known`: what is known of a store. */
export function backupResult(
  { manifest, targets, degraded, comparison, revision }: BackupOutcome,
  known: (store: string) => KnownPlace = () => ({}),
): CommandResult {
  const suspect = manifest.source.suspect ?? [];
  const failed = targets.some(({ error, keyError, retentionError }) => error || keyError || retentionError);
  const exitCode = suspect.length > 0 ? ExitCode.sourceSuspect : failed ? ExitCode.partial : ExitCode.done;
  const { id, source, content, object, timing, extra } = manifest;
  return {
    exitCode,
    text: [
      `${id}: ${formatBytes(content.sizeBytes)} from ${source.endpoint} (${source.role}${source.version ? `, etcd ${source.version}` : ''}), stored as ${formatBytes(object.sizeBytes)}${object.encryption ? ', encrypted' : ''}`,
      `  ${comparison}`,
      ...(suspect.length > 0 ? [`  SUSPECT: ${suspect.join(', ')}; the snapshot does not count as verified`] : []),
      ...(extra ? [`  extra files of this machine: ${formatBytes(extra.sizeBytes)}, encrypted`] : []),
      ...(degraded.length > 0 ? [`  degraded: ${degraded.join(', ')}`] : []),
      ...targets.map((target) => `  ${describeTarget(target, exportKeys(manifest), known(target.store))}`),
    ].join('\n'),
    data: {
      snapshot: {
        id,
        createdAt: manifest.createdAt,
        clusterId: source.clusterId,
        endpoint: source.endpoint,
        role: source.role,
        sizeBytes: content.sizeBytes,
        storedBytes: object.sizeBytes,
        encrypted: object.encryption && true,
        extra: extra && { key: extra.key, sizeBytes: extra.sizeBytes },
        sha256: content.sha256,
        revision,
        dbSize: source.dbSize,
        dbSizeInUse: source.dbSizeInUse,
        seconds: timing.seconds,
      },
      lastVerified: targets.some(countsAsVerified) ? manifest.createdAt : undefined,
      stores: targets.map(({ error, veto, keyError, retentionError, ...target }) => {
        const about = known(target.store);
        return {
          ...target,
          ...(error && { error: said(error, about), exitCode: error.exitCode }),
          veto: veto && told(veto, about),
          keyError: keyError && told(keyError, about),
          retentionError: retentionError && told(retentionError, about),
        };
      }),
      suspect: suspect.length > 0 ? suspect : undefined,
      degraded: degraded.length > 0 ? degraded : undefined,
      comparison,
    },
    metrics: samplesOf(manifest, targets),
  };
}

const countsAsVerified = ({ error, verified }: TargetOutcome) =>
  !error && verified !== undefined && verified !== 'stream';

/**
 * Metrics of a backup. A store without a new verified snapshot adds none, so that its former values stay in the file.
 */
function samplesOf(
  { cluster, createdAt, source, content, object }: SnapshotManifest,
  targets: readonly TargetOutcome[],
): Sample[] {
  const labelled = clusterLabels({ cluster: cluster.name, namespace: cluster.namespace });
  const { dbSize, dbSizeInUse } = source;
  return [
    ...samples('etcd_backup_database_size_bytes', labelled, dbSize),
    ...samples('etcd_backup_database_in_use_bytes', labelled, dbSizeInUse),
    ...targets.flatMap((target) => {
      const labels = { ...labelled, store: target.store };
      const { deleted, deferred = 0, kept } = target;
      return [
        ...(countsAsVerified(target)
          ? [
              sample('etcd_backup_last_verified_timestamp_seconds', labels, seconds(createdAt)),
              ...sizeSamples(labels, { content, object }),
            ]
          : []),
        ...samples('etcd_backup_snapshots', labels, kept),
        ...(deleted
          ? retentionSamples(
              'backup',
              { cluster: cluster.name, namespace: cluster.namespace, store: target.store },
              { deleted, deferred },
            )
          : []),
      ];
    }),
  ];
}

function describeTarget(
  { store, key, verified, error, deleted, deferred, veto, keyError, retentionError }: TargetOutcome,
  exported: readonly string[],
  known: KnownPlace,
): string {
  if (error) return `${store}: FAILED: ${said(error, known)}`;
  const parts = [`${store}: ${verified ? `verified (${verified})` : 'not verified'}`];
  if (key !== undefined && exported.includes(key)) parts.push(`exported to ${key}`);
  if (deleted?.length) parts.push(`${deleted.length} old deleted`);
  if (deferred) parts.push(`${deferred} more in the next run`);
  if (veto) parts.push(`nothing deleted: ${told(veto, known)}`);
  if (keyError) parts.push(`not exported: ${told(keyError, known)}`);
  if (retentionError) parts.push(`retention FAILED: ${told(retentionError, known)}`);
  return parts.join(', ');
}
