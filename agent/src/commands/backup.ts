import { checkIdentities } from '../backup/encryption.ts';
import { formatFileName } from '../backup/file-name.ts';
import { compressions, levels, type Manifest } from '../backup/manifest.ts';
import { checkClusterName } from '../backup/snapshot-id.ts';
import { type BackupOutcome, type TargetOutcome, takeBackup } from '../backup/take.ts';
import type { Command, CommandContext } from '../command.ts';
import { AgentError, ExitCode } from '../errors.ts';
import { parseEndpoints } from '../etcd/endpoints.ts';
import { Etcdutl } from '../etcd/etcdutl.ts';
import { gauge, retentionSamples, type Sample, seconds, sizeSamples } from '../metrics/samples.ts';
import { formatBytes } from '../progress.ts';
import type { CommandResult } from '../result.ts';
import { withTimeout } from '../run-limit.ts';
import { openStore } from '../store/open.ts';
import { agentVersion } from '../version.ts';

export const run: Command = async (context) => {
  const { settings } = context;
  const cluster = checkClusterName(settings.text('cluster'));
  const specs = settings.stores();
  const access = await settings.access();
  const survivor = settings.text('survivor');
  const request = {
    cluster,
    namespace: settings.text('namespace'),
    access,
    fileName: checkFileName(settings),
    fileNameTimeZone: settings.text('fileNameTimeZone') ?? 'UTC',
    key: settings.text('objectKey')?.replace(/^\/+/, ''),
    overwrite: settings.flag('overwrite'),
    survivor: survivor && parseEndpoints([survivor], access.tls !== undefined)[0],
    compression: settings.oneOf('compression', '--compression', compressions),
    recipients: await settings.recipients(),
    identities: await settings.identities(),
    level: settings.oneOf('verify', '--verify', levels),
    trigger: settings.text('trigger') ?? 'manual',
    restoredFrom: settings.list('restoredFrom'),
    force: settings.flag('force'),
    idleTimeout: settings.duration('idleTimeout', '--idle-timeout') ?? 60_000,
    sweepAge: settings.duration('sweepAge', '--sweep-age') ?? 86_400_000,
    scratch: settings.scratch,
    etcdutl: new Etcdutl(settings.text('etcdutl') ?? 'etcdutl'),
    agentVersion,
  };
  if (request.level === 'open' && request.recipients.length > 0) {
    await checkIdentities('at --verify=open the snapshot', request.recipients, request.identities);
  }
  const targets = await openTargets(specs);
  try {
    const outcome = await withTimeout(context, (signal, grow) =>
      takeBackup(
        { ...request, targets },
        { ...context, signal, onSize: (bytes) => grow(bytes * (1 + targets.length)) },
      ),
    );
    return describe(outcome);
  } finally {
    for (const { store } of targets) store.close();
  }
};

function checkFileName(settings: CommandContext['settings']): string | undefined {
  const pattern = settings.text('fileName');
  if (pattern === undefined) return undefined;
  if (settings.text('objectKey'))
    throw new AgentError(ExitCode.usage, '--file-name and --object-key both name it; give one');
  formatFileName(pattern, new Date(), settings.text('fileNameTimeZone') ?? 'UTC');
  return pattern;
}

async function openTargets(specs: ReturnType<CommandContext['settings']['stores']>) {
  const targets = [];
  for (const spec of specs) targets.push({ store: await openStore(spec), retention: spec.retention });
  return targets;
}

function describe({ manifest, targets, degraded, comparison }: BackupOutcome): CommandResult {
  const suspect = manifest.source.suspect ?? [];
  const failed = targets.some(({ error, retentionError }) => error || retentionError);
  const exitCode = suspect.length > 0 ? ExitCode.sourceSuspect : failed ? ExitCode.partial : ExitCode.done;
  const { id, source, content, object, timing } = manifest;
  return {
    exitCode,
    text: [
      `${id}: ${formatBytes(content.sizeBytes)} of ${source.endpoint} (${source.role}, etcd ${source.version}), stored as ${formatBytes(object.sizeBytes)}${object.encryption ? ', encrypted' : ''}`,
      `  ${comparison}`,
      ...(suspect.length > 0 ? [`  SUSPECT: ${suspect.join(', ')}; it does not count as verified`] : []),
      ...(degraded.length > 0 ? [`  degraded: ${degraded.join(', ')}`] : []),
      ...targets.map((target) => `  ${describeTarget(target)}`),
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
        ...(object.encryption && { encrypted: true }),
        revision: content.hashKV?.revision,
        dbSize: source.dbSize,
        dbSizeInUse: source.dbSizeInUse,
        seconds: timing.seconds,
      },
      ...(targets.some(countsAsVerified) && { lastVerified: manifest.createdAt }),
      stores: targets.map(({ error, ...target }) => ({
        ...target,
        ...(error && { error: error.message, exitCode: error.exitCode }),
      })),
      ...(suspect.length > 0 && { suspect }),
      ...(degraded.length > 0 && { degraded }),
      comparison,
    },
    metrics: samplesOf(manifest, targets),
  };
}

const countsAsVerified = ({ error, verified }: TargetOutcome) =>
  !error && verified !== undefined && verified !== 'stream';

/** A store without a new verified snapshot says nothing here, and what the file said of it before stays. */
function samplesOf(
  { cluster, createdAt, source, content, object }: Manifest,
  targets: readonly TargetOutcome[],
): Sample[] {
  const name = cluster.name;
  const { dbSize, dbSizeInUse } = source;
  const database = { cluster: name };
  return [
    ...(dbSize === undefined ? [] : [gauge('etcd_backup_database_size_bytes', database, dbSize)]),
    ...(dbSizeInUse === undefined ? [] : [gauge('etcd_backup_database_in_use_bytes', database, dbSizeInUse)]),
    ...targets.flatMap((target) => {
      const labels = { cluster: name, store: target.store };
      const { deleted, deferred = 0, kept } = target;
      return [
        ...(countsAsVerified(target)
          ? [
              gauge('etcd_backup_last_verified_timestamp_seconds', labels, seconds(createdAt)),
              ...sizeSamples(labels, { content, object }),
            ]
          : []),
        ...(kept === undefined ? [] : [gauge('etcd_backup_snapshots', labels, kept)]),
        ...(deleted ? retentionSamples('backup', labels, { deleted, deferred }) : []),
      ];
    }),
  ];
}

function describeTarget({ store, verified, error, deleted, deferred, veto, retentionError }: TargetOutcome): string {
  if (error) return `${store}: FAILED: ${error.message}`;
  const parts = [`${store}: ${verified ? `verified (${verified})` : 'not verified'}`];
  if (deleted?.length) parts.push(`${deleted.length} old deleted`);
  if (deferred) parts.push(`${deferred} more next time`);
  if (veto) parts.push(`nothing deleted: ${veto}`);
  if (retentionError) parts.push(`retention FAILED: ${retentionError}`);
  return parts.join(', ');
}
