import { randomBytes } from 'node:crypto';
import { usageError } from '../../lib/errors.ts';
import { sha256 as hashOf } from '../../lib/http/bearer.ts';
import { own } from '../../lib/own.ts';
import type { RecordedSource } from '../../protocol/record.ts';
import type { JobRequest } from '../port/effect.ts';

/** How a backup schedule stores its snapshots. */
export interface BackupSettings {
  /** Value of `--store`. */
  readonly stores: readonly string[];
  readonly compression?: string;
  readonly ageRecipients?: readonly string[];
  readonly verify?: string;
  readonly fileName?: string;
  readonly fileNameTimeZone?: string;
  readonly timeout?: string;
}

/** Input of a Job besides its request. */
export interface JobFacts {
  readonly cluster: string;
  readonly namespace: string;
  /** Client URLs, by ordinal. */
  readonly endpoints: Readonly<Record<number, string>>;
  /** Backup schedules by name. */
  readonly schedules: Readonly<Record<string, BackupSettings>>;
  /** Value of `--store` for the `store` of a RestoreSource. */
  readonly storeOf: (store: unknown) => string;
  /** Store, id, and folder or key of a completed EtcdBackup. */
  readonly backupOf: (name: string) => {
    readonly store: string;
    readonly id: string;
    readonly folder?: string;
    readonly key?: string;
  };
  /** Files of the mounted Secret with age identities. */
  readonly identityFiles: (secret: string) => readonly string[];
  readonly clientTls?: { readonly cacert: string; readonly cert: string; readonly key: string };
  /** The reconciler has root's certificate, so it may restore a snapshot with authentication. */
  readonly hasRoot?: boolean;
  readonly peerTlsDir?: string;
  /** Name in the certificate of a gate, for gates that are dialled by address. */
  readonly serverName?: string;
  /** Address on which the restore Job serves. */
  readonly listen?: string;
  readonly scratch?: string;
  readonly etcdutl?: string;
}

export interface JobCommand {
  readonly args: readonly string[];
  /** Environment variables. Secrets are passed here, never on a command line. */
  readonly env: Readonly<Record<string, string>>;
}

/** Builds the agent's command line and environment for a Job. Throws if the request cannot be carried out. */
export function jobCommand(job: JobRequest, facts: JobFacts): JobCommand {
  const env = { ETCD_AGENT_NAMESPACE: facts.namespace };
  if (job.restore) return { args: restoreArguments(job.restore, facts), env };
  if (job.salvage) return { args: salvageArguments(job, facts), env: { ...env, ...sourceVariables(job.salvage) } };
  // As a variable, because the agent of the schedule's image may be older and refuse a flag that it does not know.
  return { args: backupArguments(job, facts), env: { ...env, ETCD_AGENT_REQUEST_AGE: requestAge } };
}

/** A retry of a Job finds its snapshot. A Job that is made again later needs the data of that time. */
const requestAge = '10m';

function backupArguments(job: JobRequest, facts: JobFacts): string[] {
  const { clientTls, endpoints } = facts;
  const survivor = job.survivor === undefined ? undefined : endpoints[job.survivor];
  if (job.survivor !== undefined && !survivor) {
    const pod = `${facts.cluster}-${job.survivor}`;
    throw usageError(
      `the survivor ${pod} has no address, so it cannot be backed up; kubectl describe pod ${pod} says why`,
    );
  }
  return [
    'backup',
    ...(survivor ? flag('survivor', survivor) : flag('endpoints', Object.values(endpoints).join(','))),
    ...flag('cacert', clientTls?.cacert),
    ...flag('cert', clientTls?.cert),
    ...flag('key', clientTls?.key),
    ...storeArguments(job, facts),
  ];
}

/** A gate serves with the same certificate as etcd. */
const salvageArguments = (job: JobRequest, facts: JobFacts): string[] => [
  'salvage',
  ...flag('peer-tls-dir', facts.peerTlsDir),
  ...flag('cacert', facts.clientTls?.cacert),
  ...flag('server-name', facts.serverName),
  ...flag('cluster-id', job.salvage?.clusterId),
  ...storeArguments(job, facts),
];

/** How the schedule stores its own backups. */
function storeArguments({ kind, op, schedule }: JobRequest, facts: JobFacts): string[] {
  const settings = settingsOf(schedule, facts);
  return [
    ...common(facts),
    ...flag('compression', settings.compression),
    ...(settings.ageRecipients ?? []).flatMap((recipient) => flag('age-recipient', recipient)),
    ...flag('verify', settings.verify),
    ...flag('file-name', settings.fileName),
    ...flag('file-name-time-zone', settings.fileNameTimeZone),
    ...flag('timeout', settings.timeout),
    ...flag('trigger', kind),
    // A retry finds what an earlier try has stored.
    ...flag('request', `${kind}-${op}`),
    ...settings.stores.flatMap((store) => flag('store', store)),
  ];
}

function restoreArguments(restore: NonNullable<JobRequest['restore']>, facts: JobFacts): string[] {
  const { source, identitySecret, sha256, expectedRevision, minor, token } = restore;
  return [
    'restore',
    'serve',
    ...snapshotArguments(source, facts),
    ...(identitySecret ? facts.identityFiles(identitySecret).flatMap((file) => flag('age-identity-file', file)) : []),
    ...flag('sha256', sha256),
    ...flag('expected-revision', expectedRevision),
    ...flag('server-version', minor),
    ...(facts.hasRoot ? ['--accept-authentication'] : []),
    // With TLS there is no token, but the answers to the reconciler still need a key.
    ...flag('token-sha256', hashOf(token || randomBytes(32).toString('hex'))),
    ...flag('listen', facts.listen),
    ...flag('peer-tls-dir', facts.peerTlsDir),
    ...common({ ...facts, cluster: folderOf(source, facts) }),
    // Default: the namespace of the pod.
    ...flag('namespace', text(source.clusterNamespace)),
  ];
}

/** The name under which the cluster of the snapshot is known to the store. */
function folderOf({ clusterName, backupName }: RecordedSource, { cluster, backupOf }: JobFacts): string {
  const backup = text(backupName);
  return (backup && backupOf(backup).folder) || (text(clusterName) ?? cluster);
}

function snapshotArguments(source: RecordedSource, facts: JobFacts): string[] {
  const backupName = text(source.backupName);
  if (backupName) {
    const backup = facts.backupOf(backupName);
    const which = [backup.id, ...flag('object-key', backup.key)];
    return [...which, ...flag('store', backup.store)];
  }
  const schedule = text(source.schedule);
  const store = schedule ? settingsOf(schedule, facts).stores[0] : facts.storeOf(source.store);
  const [id, key] = [text(source.snapshotId), text(source.key)];
  return [
    ...(id ? [id] : []),
    ...(key ? [...flag('object-key', key), '--adopt'] : []),
    ...flag('latest-verified-before', text(source.latestVerifiedBefore)),
    ...flag('store', store),
  ];
}

const sourceVariables = ({ url, token, sha256 }: NonNullable<JobRequest['salvage']>) => ({
  ETCD_AGENT_SOURCE_URL: url,
  ...(token && { ETCD_AGENT_SOURCE_TOKEN: token }),
  ETCD_AGENT_SOURCE_SHA256: sha256,
});

const common = ({ cluster, scratch, etcdutl }: JobFacts): string[] => [
  ...flag('cluster', cluster),
  ...flag('scratch', scratch),
  ...flag('etcdutl', etcdutl),
  ...flag('output', 'json'),
];

function settingsOf(schedule: string | undefined, { schedules }: JobFacts): BackupSettings {
  if (schedule === undefined) throw usageError('the cluster has no backup schedule; add one to spec.backup.schedules');
  const settings = own(schedules, schedule);
  if (!settings) throw usageError(`spec.backup.schedules has no schedule '${schedule}'; add it, or name another`);
  if (settings.stores.length > 0) return settings;
  throw usageError(`the schedule '${schedule}' in spec.backup.schedules has no store; add one to its stores`);
}
const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
const flag = (name: string, value: string | number | undefined) => (value === undefined ? [] : [`--${name}=${value}`]);
