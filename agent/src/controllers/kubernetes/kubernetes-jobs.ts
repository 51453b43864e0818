import { ports } from '../../../../src/etcd/cluster-ports.ts';
import type { BackupScheduleSpec } from '../../../../src/resource/types.ts';
import { hasBeyond, noneBeyond } from '../../backup/payload/plausible-revision.ts';
import { hmacHeader, isAuthentic } from '../../backup/payload/response-hmac.ts';
import { unlessMissing } from '../../kube/api-error.ts';
import { mainContainer } from '../../kube/containers.ts';
import type { JobObject, KubeObject, PodObject } from '../../kube/objects.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { getJson } from '../../lib/http/http-get.ts';
import type { Scheme } from '../../protocol/record.ts';
import {
  backupAnnotation,
  generationAnnotation,
  type JobInputs,
  jobManifest,
  opAnnotation,
  restoredAnnotation,
  type StoredBackup,
} from '../jobs/job-manifest.ts';
import { type JobResult, jobCondition, jobFailure, jobResult, lineOf } from '../jobs/job-result.ts';
import { hasEnded, type PodState, podState, podsOf, silentPart } from '../jobs/pod-state.ts';
import { proxyVariables, readOwnDeployment } from '../jobs/proxy-variables.ts';
import { keyOf, storesOf } from '../jobs/stores.ts';
import { type EtcdBackupObject, folderOf, whyNotRestored } from '../objects/backup-object.ts';
import type { EtcdClusterObject } from '../objects/cluster-object.ts';
import { peerVolumeOf } from '../objects/stateful-set.ts';
import type { JobRequest } from '../port/effect.ts';
import type { Job, JobKind } from '../port/observed.ts';
import type { Jobs } from '../port/port.ts';
import type { ClusterContext } from './cluster-context.ts';
import type { BackupAddress } from './kubernetes-workload.ts';
import { addressOf } from './pod.ts';

const kinds: readonly JobKind[] = ['pre-upgrade', 'final', 'safety', 'recovery', 'restore', 'salvage'];

/** State of a Job, as reason and message. */
export interface JobState {
  readonly op: string;
  readonly reason: PodState['reason'] | 'JobFailed';
  readonly message: string;
}

export interface ServedSnapshot {
  readonly op: string;
  readonly id: string;
  /** Newer snapshots, and why they were not taken. */
  readonly passedOver?: string;
}

/** The Jobs of a cluster's operations, and the state of their pods. */
export class KubernetesJobs implements Jobs {
  readonly #context: ClusterContext;
  readonly #ports: () => Promise<ReadonlyMap<number, BackupAddress>>;
  /** Jobs that cannot be created, by kind. They are reported as failed Jobs. */
  readonly #refused = new Map<JobKind, Job>();
  /** Uid of the Job whose missing proof has been logged. */
  #unproved: string | undefined;
  /** Uids of the Jobs of which an event says that not every store has their backup, by kind. */
  readonly #partial = new Map<JobKind, string>();
  #served: ServedSnapshot | undefined;
  #states: ReadonlyMap<JobKind, JobState> | undefined;

  /** `ports`: of the members, for a backup. */
  constructor(context: ClusterContext, ports: () => Promise<ReadonlyMap<number, BackupAddress>>) {
    this.#context = context;
    this.#ports = ports;
  }

  /** The snapshot that the restore Job serves or last served, and its operation. */
  get served(): ServedSnapshot | undefined {
    return this.#served;
  }

  /** States of the running and failed Jobs, as last listed. Undefined until they have been listed. */
  get states(): ReadonlyMap<JobKind, JobState> | undefined {
    return this.#states;
  }

  async jobs(): Promise<Job[]> {
    // Only an empty list is cached: no watch covers the pods of an existing Job.
    const ours = await this.#context.cache.get(
      'jobs',
      () => this.#list(),
      (found) => found.length === 0,
    );
    for (const { kind } of ours) this.#refused.delete(kind);
    const states = new Map<JobKind, JobState>();
    const found = await Promise.all(ours.map(({ job, kind }) => this.#job(job, kind, states)));
    const all = [...found, ...this.#refused.values()];
    for (const { kind, op, state, message = 'the Job failed' } of all)
      if (state === 'Failed') states.set(kind, { op, reason: 'JobFailed', message });
    this.#states = states;
    return all;
  }

  async create(request: JobRequest): Promise<void> {
    const { client, paths } = this.#context;
    const manifest = await this.#manifest(request);
    if (!manifest) return;
    await client.create(paths.of('jobs'), manifest);
    this.#context.emitEvent('Normal', 'SuccessfulCreate', `Created Job ${manifest.metadata.name}`);
  }

  async remove(kind: JobKind, uid: string): Promise<void> {
    const { client, paths, name } = this.#context;
    if (this.#refused.get(kind)?.uid === uid) this.#refused.delete(kind);
    else await client.remove(paths.of('jobs', `${name}-${kind}`), { uid }).catch(unlessMissing);
  }

  /** Returns undefined for an invalid request, which is then reported as a failed Job. */
  async #manifest(request: JobRequest): Promise<KubeObject | undefined> {
    const { kind, op } = request;
    try {
      return jobManifest(request, await this.#inputs(request)) as KubeObject;
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      const { message } = error;
      this.#refused.set(kind, { kind, uid: `refused-${op}`, op, state: 'Failed', deleting: false, message });
      return undefined;
    }
  }

  async #job(job: JobObject, kind: JobKind, states: Map<JobKind, JobState>): Promise<Job> {
    const { metadata } = job;
    const failed = jobCondition(job, 'Failed');
    const state = failed ? 'Failed' : jobCondition(job, 'Complete') ? 'Succeeded' : 'Running';
    const found: Job = {
      kind,
      uid: metadata.uid,
      op: metadata.annotations?.[opAnnotation] ?? '',
      state,
      deleting: metadata.deletionTimestamp !== undefined,
    };
    const pods = await this.#podsOf(job);
    if (state === 'Running') return { ...found, ...(await this.#progress(job, kind, pods, found.op, states)) };
    if (state === 'Succeeded') return { ...found, ...outcome(pods) };
    const result = jobResult(pods);
    if (result && isStored(job, result)) {
      this.#reportPartial(job, kind, result);
      return { ...found, state: 'Succeeded', ...outcome(pods) };
    }
    const message = jobFailure(job, result);
    const generation = Number(metadata.annotations?.[generationAnnotation]);
    return { ...found, ...(message && { message }), exitCode: result?.exitCode, generation: generation || undefined };
  }

  async #progress(
    job: JobObject,
    kind: JobKind,
    pods: readonly PodObject[],
    op: string,
    states: Map<JobKind, JobState>,
  ): Promise<Partial<Job>> {
    const serving = kind === 'restore' ? await this.#serving(job, pods, op) : undefined;
    // An older agent serves such a snapshot, but no record could hold the permit to restore it.
    if (serving && !hasBeyond(serving.revision))
      return { state: 'Failed', message: noneBeyond(`${this.#served!.id} is`, serving.revision) };
    if (serving) return { serving };
    const silent = silentPart(job, pods);
    const { reason, message } = podState(job, pods, silent && (await this.#context.troubles.of(silent.metadata.uid)));
    states.set(kind, { op, reason, message });
    if (reason === 'Retrying') return { message };
    return reason === 'Running' ? {} : { waits: message };
  }

  #reportPartial({ metadata }: JobObject, kind: JobKind, result: JobResult): void {
    if (this.#partial.get(kind) !== metadata.uid)
      this.#context.emitEvent('Warning', 'BackupPartial', `Job ${metadata.name}: ${lineOf(result)}`);
    this.#partial.set(kind, metadata.uid);
  }

  async #list(): Promise<{ job: JobObject; kind: JobKind }[]> {
    const { client, paths, name } = this.#context;
    const labelSelector = `app.kubernetes.io/name=etcd-backup,app.kubernetes.io/part-of=${name}`;
    const { items } = await client.list<JobObject>(paths.of('jobs'), { labelSelector });
    return items.flatMap((job) => {
      const kind = kinds.find((each) => job.metadata.name === `${name}-${each}`);
      return kind && job.metadata.annotations?.[opAnnotation] !== undefined ? [{ job, kind }] : [];
    });
  }

  /** Selects the pods by the Job's uid: pods of a deleted Job with the same name may live on for a while and still answer. */
  async #podsOf(job: JobObject): Promise<PodObject[]> {
    const { client, paths } = this.#context;
    const labelSelector = `batch.kubernetes.io/job-name=${job.metadata.name}`;
    const { items } = await client.list<PodObject>(paths.of('pods'), { labelSelector });
    return podsOf(job, items);
  }

  /** Returns undefined until the pod has started and verified its snapshot. */
  async #serving(job: JobObject, pods: readonly PodObject[], op: string): Promise<Job['serving']> {
    const address = pods
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(addressOf)
      .find((found) => found !== undefined);
    if (address === undefined) return undefined;
    const url = this.#context.urlOf(address, ports.agent, schemeOf(job));
    try {
      const status = await getJson<NonNullable<Job['serving']> & Omit<ServedSnapshot, 'op'> & { state: string }>(
        `${url}/status`,
        {
          // The reconciler does not know the CA of the members' certificate, so it checks the proof in the response instead.
          rejectUnauthorized: false,
          check: (body, headers) => this.#checkProof(job, body, headers[hmacHeader]),
          signal: AbortSignal.timeout(this.#context.settings.observeRpc / 2),
        },
      );
      if (status.state !== 'Serving') return undefined;
      const { id, sha256, sizeBytes, revision, highestRevision, passedOver } = status;
      this.#served = { op, id, passedOver: passedOver || undefined };
      // A number that no etcd reaches is damaged, or a lie.
      const highest = hasBeyond(highestRevision) ? { highestRevision } : {};
      const backup = storedBackupOf(job);
      const stored = backup && { backup };
      return { url: `${url}/snapshot`, id, sha256, sizeBytes, revision, ...highest, ...stored };
    } catch {
      return undefined;
    }
  }

  /** Rejects a response without proof: its checksum would go into the record, and from there to the gate. */
  #checkProof({ metadata, spec }: JobObject, body: string, proof: unknown): void {
    const flag = '--token-sha256=';
    const args = mainContainer(spec?.template?.spec.containers)?.args ?? [];
    const key = args.find((argument) => argument.startsWith(flag))?.slice(flag.length);
    if (key && isAuthentic(body, proof, key)) return;
    const problem = `Job ${metadata.name}: ignoring a response that does not prove that it comes from the Job's pod`;
    if (this.#unproved !== metadata.uid) this.#context.log.warn(problem);
    this.#unproved = metadata.uid;
    throw new Error(problem);
  }

  async #inputs(request: JobRequest): Promise<JobInputs> {
    const { cluster, template, name, domain, namespace, hasNoTemplate, client, paths, deployment } = this.#context;
    if (!cluster || !template || domain === undefined) {
      if (!hasNoTemplate) throw new Error(`the StatefulSet ${name} has not been read yet`);
      const what = `the StatefulSet ${name}, from which Jobs are built, does not exist; apply the manifests of the cluster again`;
      throw new AgentError(ExitCode.usage, what);
    }
    const there = askedBy(request, await this.#ports());
    const host = (ordinal: number) => `${name}-${ordinal}.${name}-peers.${namespace}.svc.${domain}`;
    const { backupName, backup: recorded } = (request.restore?.source ?? {}) as {
      backupName?: unknown;
      backup?: StoredBackup;
    };
    const hasRoot = request.restore !== undefined && cluster.spec.tls?.rootSecret !== undefined;
    return {
      cluster,
      template,
      endpoints: Object.fromEntries(
        there.map(([ordinal, { scheme, port }]) => [ordinal, `${scheme}://${host(ordinal)}:${port}`]),
      ),
      peerName: host(0),
      proxy: proxyVariables(await readOwnDeployment({ client, paths, deployment })),
      rootCertificate: hasRoot ? (await this.#context.rootTls()).cert! : undefined,
      backup: typeof backupName === 'string' ? (recorded ?? (await this.#backup(backupName))) : undefined,
    };
  }

  async #backup(backupName: string): Promise<StoredBackup> {
    const { client, paths } = this.#context;
    const query = { fieldSelector: `metadata.name=${backupName}` };
    const { items } = await client.list<EtcdBackupObject>(paths.of('etcdbackups'), query);
    const found = items.find(({ metadata }) => metadata.name === backupName);
    const { phase, snapshotId: id } = found?.status ?? {};
    if (!found || phase !== 'Completed' || id === undefined)
      throw new AgentError(ExitCode.usage, `EtcdBackup ${backupName} ${whyNotRestored(found)}`);
    const [store] = storesOf(found, await this.#scheduleOf(found));
    if (!store)
      throw new AgentError(
        ExitCode.usage,
        `the schedule ${found.spec.schedule} of EtcdBackup ${backupName} no longer exists`,
      );
    const key = keyOf(found);
    return { store, id, folder: folderOf(found), key };
  }

  /** Finds the schedule, which may belong to another cluster. */
  async #scheduleOf({ spec }: EtcdBackupObject): Promise<BackupScheduleSpec | undefined> {
    if (spec.schedule === undefined) return undefined;
    const { client, paths } = this.#context;
    const query = { fieldSelector: `metadata.name=${spec.clusterName}` };
    const { items } = await client.list<EtcdClusterObject>(paths.of('etcdclusters'), query);
    const [cluster] = items.filter(({ metadata }) => metadata.name === spec.clusterName);
    return cluster?.spec.backup?.schedules?.find(({ name }) => name === spec.schedule);
  }
}

/**
 * Its snapshot is stored and verified, although another store or retention failed. Another try would store it once more. What
 * is restored next is read from the first store.
 */
function isStored({ metadata }: JobObject, { exitCode, snapshot, stores = [] }: JobResult): boolean {
  if (exitCode !== ExitCode.partial || !snapshot) return false;
  const needed = metadata.annotations?.[restoredAnnotation] ? stores.slice(0, 1) : stores;
  return needed.some(({ verified, error }) => verified !== undefined && error === undefined);
}

function storedBackupOf({ metadata }: JobObject): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(metadata.annotations?.[backupAnnotation] ?? '') as Readonly<Record<string, unknown>>;
  } catch {
    // A Job of an earlier release, or of another source.
    return undefined;
  }
}

/** The Job serves as its pod was made, while `spec.tls` may have changed since. */
const schemeOf = ({ spec }: JobObject): Scheme => (spec?.template && peerVolumeOf(spec.template) ? 'https' : 'http');

/** The members that a Job asks: one way to connect for all, so those with certificates while TLS is switched on. */
function askedBy({ survivor }: JobRequest, ports: ReadonlyMap<number, BackupAddress>): [number, BackupAddress][] {
  const all = [...ports];
  if (survivor !== undefined) return all.filter(([ordinal]) => ordinal === survivor);
  const safe = all.filter(([, { scheme }]) => scheme === 'https');
  return safe.length > 0 ? safe : all;
}

/**
 * Result of a Job that succeeded. If its pod was deleted, for example with its node, the result is lost and the caller requests
 * it again. An existing pod may not have its termination message yet.
 */
function outcome(pods: readonly PodObject[]): Partial<Job> {
  if (pods.length === 0) return {};
  const result = jobResult(pods);
  if (result?.snapshot) {
    const { id, revision, sha256, createdAt = '' } = result.snapshot;
    const taken = Date.parse(createdAt);
    return { backup: { id, revision, sha256, at: taken ? new Date(taken).toISOString() : undefined } };
  }
  if (!pods.some(hasEnded)) return { state: 'Running' };
  return { state: 'Failed', message: result?.error ?? 'the pod succeeded but reported no snapshot' };
}
