import { createHash } from 'node:crypto';
import { ApiError } from '../../kube/api-error.ts';
import type { Troubles } from '../../kube/event-reader.ts';
import type { Events } from '../../kube/events.ts';
import { isSameStatus, mergePatch } from '../../kube/merge-patch.ts';
import type { EventObject, JobObject, PodObject } from '../../kube/objects.ts';
import { groupVersion } from '../../kube/paths.ts';
import { AgentError, messageOf } from '../../lib/errors.ts';
import { jobCondition } from '../jobs/job-result.ts';
import { podsOf, silentPart } from '../jobs/pod-state.ts';
import type { OwnDeployment } from '../jobs/proxy-variables.ts';
import { type EtcdBackupObject, isFinal, mirroredJob } from '../objects/backup-object.ts';
import { type BackupDecision, decideBackup, type ObservedBackup } from './decision.ts';
import { type NoteOptions, noteDeletions } from './deleted-snapshots.ts';
import { backupJobManifest, backupJobName } from './job.ts';
import { type InputsOrObstacle, jobInputs } from './job-inputs.ts';

export interface BackupPassOptions extends NoteOptions {
  readonly events: Events;
  /** Source of the reasons why a pod does not start. */
  readonly troubles: Pick<Troubles, 'of'>;
  /** True once passes before this one have failed in a row: what fails again is reported. */
  readonly fails?: boolean;
  /** Called before and after each action. */
  readonly at: (point: string) => void | Promise<void>;
}

export interface BackupPass {
  /** The backup has ended; there is nothing left to do. */
  readonly done: boolean;
  /** The pass acted, so there may be more to do. */
  readonly acted: boolean;
  /** A pod has not started yet, and no watch reports when it does. */
  readonly starting?: boolean;
}

/** Observes one EtcdBackup, decides, and performs one action. */
export async function backupPass(name: string, uid: string, options: BackupPassOptions): Promise<BackupPass> {
  const { client, paths, at } = options;
  const { items: all } = await client.list<EtcdBackupObject>(paths.of('etcdbackups'));
  const backup = all.find(({ metadata }) => metadata.name === name && metadata.uid === uid);
  if (!backup || isFinal(backup)) return { done: true, acted: false };
  const [jobs, pods] = await Promise.all([jobsOf(backup, options), namedPods(backup, options)]);
  const found: InputsOrObstacle | undefined =
    jobs.length > 0 || mirroredJob(backup) ? undefined : await jobInputs(backup, all, options);
  const obstacle = found && 'obstacle' in found ? found.obstacle : undefined;
  const why = await startProblems(jobs, pods, options);
  const observed: ObservedBackup = {
    backup,
    jobs,
    pods,
    now: now(),
    why,
    obstacle,
  };
  const decision = decideBackup(observed);
  if (decision.create === undefined) {
    const reported = await report(observed, decision, options);
    // After its own status is final: of two that end at once, the later one sees the other.
    if (reported.done) await noteDeletions(backup, options);
    return reported;
  }
  try {
    const inputs = found ?? (await jobInputs(backup, [], options));
    if (!('inputs' in inputs))
      return report(observed, decideBackup({ ...observed, obstacle: inputs.obstacle }), options);
    const manifest = backupJobManifest(backup, decision.create, inputs.inputs);
    await at('before CreateBackupJob');
    await client.create(paths.of('jobs'), manifest);
    await at('after CreateBackupJob');
    return { done: false, acted: true };
  } catch (error) {
    // Created since the Jobs were listed. One whose labels or owner somebody has changed is never found.
    const exists = error instanceof ApiError && error.reason === 'AlreadyExists';
    if (exists && (await jobsOf(backup, options)).length > 0) return { done: false, acted: true };
    const refused = refusal(error) ?? lasting(error, options.fails);
    if (!refused) throw error;
    // Only in the usual time: a webhook may refuse in other words each time.
    const reported = await report(observed, decideBackup({ ...observed, obstacle: refused }), options);
    return { ...reported, acted: false };
  }
}

/** Emits the Event, then writes the status. A pass that is interrupted in between emits the same Event again, under the same name. */
async function report(
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
  // The resourceVersion rejects the write if the object changed meanwhile: a final status never changes.
  const body = { metadata: { uid, resourceVersion }, status: mergePatch(backup.status, status) };
  await client.merge(paths.of('etcdbackups', name, 'status'), body);
  await at(`after ReportBackup${status.phase}`);
  return { done, acted: true };
}

/** Returns the backup's own Jobs, or the Job that it mirrors. */
async function jobsOf(backup: EtcdBackupObject, { client, paths }: OwnDeployment): Promise<JobObject[]> {
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

/** Includes the pods that a deleted Job of the same name left behind. */
async function namedPods(backup: EtcdBackupObject, { client, paths }: OwnDeployment): Promise<PodObject[]> {
  const mirrored = mirroredJob(backup);
  const jobs = mirrored ? [mirrored.name] : [backupJobName(backup, 1), backupJobName(backup, 2)];
  const lists = jobs.map((job) =>
    client.list<PodObject>(paths.of('pods'), { labelSelector: `batch.kubernetes.io/job-name=${job}` }),
  );
  return (await Promise.all(lists)).flatMap(({ items }) => items);
}

/** Reads the Events of a pod that does not start, or of a Job without a pod. */
async function startProblems(
  jobs: readonly JobObject[],
  pods: readonly PodObject[],
  { troubles }: BackupPassOptions,
): Promise<readonly EventObject[] | undefined> {
  const job = jobs.find((each) => !isOver(each));
  const silent = job && silentPart(job, podsOf(job, pods));
  return silent && troubles.of(silent.metadata.uid);
}

const isOver = (job: JobObject): boolean =>
  (jobCondition(job, 'Failed') ?? jobCondition(job, 'Complete')) !== undefined;

/** Returns the reason why Kubernetes or the spec refuses the Job. Other errors are retried. */
function refusal(error: unknown): ObservedBackup['obstacle'] {
  if (error instanceof AgentError) return { reason: 'BadSpec', message: error.message, permanent: true };
  if (!(error instanceof ApiError) || error.status < 400 || error.status > 499 || error.status === 429)
    return undefined;
  return { reason: 'JobNotCreated', message: error.message };
}

/** So that the backups behind it do not wait for one that has no Job. */
const lasting = (error: unknown, fails = false): ObservedBackup['obstacle'] =>
  fails ? { reason: 'JobNotCreated', message: messageOf(error) } : undefined;

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`;
