import { createHash } from 'node:crypto';
import { ApiError } from '../../kube/api-error.ts';
import type { Troubles } from '../../kube/event-reader.ts';
import type { Events } from '../../kube/events.ts';
import type { EventObject, JobObject, PodObject } from '../../kube/objects.ts';
import { groupVersion } from '../../kube/paths.ts';
import { AgentError } from '../../lib/errors.ts';
import { jobCondition } from '../cluster/jobs/job-result.ts';
import { isSameStatus } from '../cluster/status.ts';
import { type BackupDecision, decideBackup, type ObservedBackup } from './backup-decision.ts';
import { backupJobManifest, backupJobName } from './backup-job.ts';
import { type EtcdBackupObject, isFinal, mirroredJob } from './backup-object.ts';
import { podsOf, silentPart } from './backup-pod-state.ts';
import { type Found, type Looking, surroundingsOf } from './backup-surroundings.ts';

export interface BackupPassOptions extends Looking {
  readonly events: Events;
  /** Tells why a pod does not start. */
  readonly troubles: Pick<Troubles, 'of'>;
  /** Around each thing that is done. */
  readonly at: (point: string) => void | Promise<void>;
}

export interface BackupPass {
  /** Nothing is left to do, ever. */
  readonly done: boolean;
  /** Something was done: there may be more. */
  readonly acted: boolean;
  /** A pod does not run yet, of which no watch tells. */
  readonly starting?: boolean;
}

/** Looks at one EtcdBackup, decides, and does one thing. */
export async function backupPass(name: string, uid: string, options: BackupPassOptions): Promise<BackupPass> {
  const { client, paths, at } = options;
  const { items: all } = await client.list<EtcdBackupObject>(paths.of('etcdbackups'));
  const backup = all.find(({ metadata }) => metadata.name === name && metadata.uid === uid);
  if (!backup || isFinal(backup)) return { done: true, acted: false };
  const [jobs, pods] = await Promise.all([jobsOf(backup, options), namedPods(backup, options)]);
  const found: Found | undefined =
    jobs.length > 0 || mirroredJob(backup) ? undefined : await surroundingsOf(backup, all, options);
  const obstacle = found && 'obstacle' in found ? found.obstacle : undefined;
  const why = await troublesOf(jobs, pods, options);
  const observed: ObservedBackup = { backup, jobs, pods, why, now: now(), ...(obstacle && { obstacle }) };
  const decision = decideBackup(observed);
  if (decision.create === undefined) return tell(observed, decision, options);
  try {
    const around = found ?? (await surroundingsOf(backup, [], options));
    if (!('around' in around)) return tell(observed, decideBackup({ ...observed, obstacle: around.obstacle }), options);
    const manifest = backupJobManifest(backup, decision.create, around.around);
    await at('before CreateBackupJob');
    await client.create(paths.of('jobs'), manifest);
    await at('after CreateBackupJob');
    return { done: false, acted: true };
  } catch (error) {
    const refused = refusal(error);
    if (!refused) throw error;
    return tell(observed, decideBackup({ ...observed, obstacle: refused }), options);
  }
}

/** First what happened, then the status: a pass that is cut short between them tells the same Event again, under its name. */
async function tell(
  observed: ObservedBackup,
  decision: BackupDecision,
  options: BackupPassOptions,
): Promise<BackupPass> {
  const { backup } = observed;
  const { event, status } = decision;
  const { client, paths, events, at } = options;
  const { name, namespace = '', uid, resourceVersion } = backup.metadata;
  const { phase, reason } = status ?? backup.status ?? {};
  const starting = phase === 'BackingUp' && reason !== 'Running';
  if (!status || isSameStatus(backup.status, status)) return { done: false, acted: false, starting };
  const done = isFinal({ ...backup, status });
  if (event) {
    const subject = { apiVersion: groupVersion, kind: 'EtcdBackup', name, namespace, uid };
    await at(`before ${event.reason}`);
    await events.emitOnce(subject, event, hash(`${event.reason} ${event.about}`));
  }
  await at(`before ReportBackup${status.phase}`);
  // Only on what was seen: what is final stays so.
  const body = { apiVersion: groupVersion, kind: 'EtcdBackup', metadata: { name, uid, resourceVersion }, status };
  await client.apply(paths.of('etcdbackups', name, 'status'), body);
  await at(`after ReportBackup${status.phase}`);
  return { done, acted: true };
}

/** Its own, or the one that it tells of. */
async function jobsOf(backup: EtcdBackupObject, { client, paths }: Looking): Promise<JobObject[]> {
  const mirrored = mirroredJob(backup);
  if (mirrored) {
    const { items } = await client.list<JobObject>(paths.of('jobs'), {
      fieldSelector: `metadata.name=${mirrored.name}`,
    });
    return items.filter(({ metadata }) => metadata.uid === mirrored.uid);
  }
  const labelSelector = `app.kubernetes.io/name=etcd-backup,app.kubernetes.io/instance=${backup.metadata.name}`;
  const { items } = await client.list<JobObject>(paths.of('jobs'), { labelSelector });
  return items.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === backup.metadata.uid));
}

/** Also those that a deleted Job of the same name left. */
async function namedPods(backup: EtcdBackupObject, { client, paths }: Looking): Promise<PodObject[]> {
  const mirrored = mirroredJob(backup);
  const jobs = mirrored ? [mirrored.name] : [backupJobName(backup, 1), backupJobName(backup, 2)];
  const lists = jobs.map((job) =>
    client.list<PodObject>(paths.of('pods'), { labelSelector: `batch.kubernetes.io/job-name=${job}` }),
  );
  return (await Promise.all(lists)).flatMap(({ items }) => items);
}

/** Of a pod that does not start, or of a Job that is given none. */
async function troublesOf(
  jobs: readonly JobObject[],
  pods: readonly PodObject[],
  { troubles }: BackupPassOptions,
): Promise<readonly EventObject[]> {
  const job = jobs.find((each) => !isOver(each));
  const silent = job && silentPart(job, podsOf(job, pods));
  return silent ? troubles.of(silent.metadata.uid) : [];
}

const isOver = (job: JobObject): boolean =>
  (jobCondition(job, 'Failed') ?? jobCondition(job, 'Complete')) !== undefined;

/** What asking again does not change; all else is tried again. */
function refusal(error: unknown): ObservedBackup['obstacle'] {
  if (error instanceof AgentError) return { reason: 'BadSpec', message: error.message, forGood: true };
  if (!(error instanceof ApiError) || error.status < 400 || error.status > 499 || error.status === 429)
    return undefined;
  return { reason: 'JobNotCreated', message: error.message };
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`;
