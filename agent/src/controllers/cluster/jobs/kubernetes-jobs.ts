import { ports } from '../../../../../src/etcd/cluster-ports.ts';
import { hmacHeader, isAuthentic } from '../../../backup/payload/response-hmac.ts';
import { unlessMissing } from '../../../kube/api-error.ts';
import type { JobObject, KubeObject, PodObject } from '../../../kube/objects.ts';
import { AgentError, ExitCode } from '../../../lib/errors.ts';
import { getJson } from '../../../lib/http/http-get.ts';
import { type EtcdBackupObject, folderOf, whyNotRestored } from '../../backup/backup-object.ts';
import { hasEnded, type PodState, podState, podsOf, silentPart } from '../../backup/backup-pod-state.ts';
import { keyOf, storesOf } from '../../backup/backup-stores.ts';
import type { JobRequest } from '../effect.ts';
import type { ClusterContext } from '../kubernetes/cluster-context.ts';
import type { EtcdClusterObject, Schedule } from '../kubernetes/cluster-object.ts';
import { addressOf } from '../kubernetes/pod.ts';
import type { Job, JobKind } from '../observed.ts';
import type { Jobs } from '../port.ts';
import { type JobSurroundings, jobManifest, opAnnotation, type StoredBackup } from './job-manifest.ts';
import { jobCondition, jobFailure, jobResult } from './job-result.ts';

const kinds: readonly JobKind[] = ['pre-upgrade', 'final', 'safety', 'recovery', 'restore', 'salvage'];

/** How far a Job is, in one word and one line. */
export interface JobState {
  readonly op: string;
  readonly reason: PodState['reason'] | 'JobFailed';
  readonly message: string;
}

export interface ServedSnapshot {
  readonly op: string;
  readonly id: string;
  /** What is newer, and why it was not taken. */
  readonly passedOver?: string;
}

/** The Jobs of a cluster's operations, and what their pods tell of themselves. */
export class KubernetesJobs implements Jobs {
  readonly #context: ClusterContext;
  readonly #addresses: () => Promise<ReadonlyMap<number, string>>;
  /** Those that cannot be made, by kind, as if they had been and had failed. */
  readonly #refused = new Map<JobKind, Job>();
  /** The uid of the Job of which that is logged. */
  #unproved: string | undefined;
  #served: ServedSnapshot | undefined;
  #states: ReadonlyMap<JobKind, JobState> | undefined;

  constructor(context: ClusterContext, addresses: () => Promise<ReadonlyMap<number, string>>) {
    this.#context = context;
    this.#addresses = addresses;
  }

  /** The snapshot that the restore Job serves, or served last, and for which operation. */
  get served(): ServedSnapshot | undefined {
    return this.#served;
  }

  /** Of those that run or failed, when they were listed last; undefined: they have not been listed yet. */
  get states(): ReadonlyMap<JobKind, JobState> | undefined {
    return this.#states;
  }

  async jobs(): Promise<Job[]> {
    // Of one that there is, the pods tell more, and no watch of them.
    const ours = await this.#context.look.at(
      'jobs',
      () => this.#list(),
      (found) => found.length === 0,
    );
    for (const { kind } of ours) this.#refused.delete(kind);
    const states = new Map<JobKind, JobState>();
    const found = await Promise.all(ours.map(({ job, kind }) => this.#job(job, kind, states)));
    const all = [...found, ...this.#refused.values()];
    for (const { kind, op, state, message = 'it failed' } of all)
      if (state === 'Failed') states.set(kind, { op, reason: 'JobFailed', message });
    this.#states = states;
    return all;
  }

  async create(request: JobRequest): Promise<void> {
    const { client, paths } = this.#context;
    const manifest = await this.#manifest(request);
    if (!manifest) return;
    await client.create(paths.of('jobs'), manifest);
    this.#context.tell('Normal', 'SuccessfulCreate', `created Job ${manifest.metadata.name}`);
  }

  async remove(kind: JobKind, uid: string): Promise<void> {
    const { client, paths, name } = this.#context;
    if (this.#refused.get(kind)?.uid === uid) this.#refused.delete(kind);
    else await client.remove(paths.of('jobs', `${name}-${kind}`), { uid }).catch(unlessMissing);
  }

  /** undefined when what is asked for is a mistake: it then counts as a Job that failed and says why. */
  async #manifest(request: JobRequest): Promise<KubeObject | undefined> {
    const { kind, op } = request;
    try {
      return jobManifest(request, await this.#surroundings(request)) as KubeObject;
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
    const message = jobFailure(job, jobResult(pods));
    return { ...found, ...(message && { message }) };
  }

  async #progress(
    job: JobObject,
    kind: JobKind,
    pods: readonly PodObject[],
    op: string,
    states: Map<JobKind, JobState>,
  ): Promise<Pick<Job, 'serving' | 'waits' | 'message'>> {
    const serving = kind === 'restore' ? await this.#serving(job, pods, op) : undefined;
    if (serving) return { serving };
    const silent = silentPart(job, pods);
    const { reason, message } = podState(job, pods, silent ? await this.#context.troubles.of(silent.metadata.uid) : []);
    states.set(kind, { op, reason, message });
    if (reason === 'Retrying') return { message };
    return reason === 'Running' ? {} : { waits: message };
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

  /** By its uid: those of a deleted Job of the same name live on for a while, and still answer. */
  async #podsOf(job: JobObject): Promise<PodObject[]> {
    const { client, paths } = this.#context;
    const labelSelector = `batch.kubernetes.io/job-name=${job.metadata.name}`;
    const { items } = await client.list<PodObject>(paths.of('pods'), { labelSelector });
    return podsOf(job, items);
  }

  /** undefined while its pod is not up, or verifies. */
  async #serving(job: JobObject, pods: readonly PodObject[], op: string): Promise<Job['serving']> {
    const address = pods
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(addressOf)
      .find((found) => found !== undefined);
    if (address === undefined) return undefined;
    const url = this.#context.urlOf(address, ports.agent);
    try {
      const status = await getJson<NonNullable<Job['serving']> & Omit<ServedSnapshot, 'op'> & { state: string }>(
        `${url}/status`,
        {
          // It shows the members' certificate, whose authority is not known here: its proof is checked instead.
          rejectUnauthorized: false,
          check: (body, headers) => this.#checkProof(job, body, headers[hmacHeader]),
          signal: AbortSignal.timeout(this.#context.settings.observeRpc / 2),
        },
      );
      if (status.state !== 'Serving') return undefined;
      const { id, sha256, sizeBytes, revision, highestRevision, passedOver } = status;
      this.#served = { op, id, ...(passedOver && { passedOver }) };
      const isKnown = Number.isSafeInteger(highestRevision);
      return { url: `${url}/snapshot`, sha256, sizeBytes, revision, ...(isKnown && { highestRevision }) };
    } catch {
      return undefined;
    }
  }

  /** What is not proved is as no answer: the sum in it goes into the record, and from there to the gate. */
  #checkProof({ metadata, spec }: JobObject, body: string, proof: unknown): void {
    const flag = '--token-sha256=';
    const args = spec?.template?.spec.containers[0]?.args ?? [];
    const key = args.find((argument) => argument.startsWith(flag))?.slice(flag.length);
    if (key && isAuthentic(body, proof, key)) return;
    const problem = `Job ${metadata.name}: what answers as its pod does not prove that it is; its answer is ignored`;
    if (this.#unproved !== metadata.uid) this.#context.log.warn(problem);
    this.#unproved = metadata.uid;
    throw new Error(problem);
  }

  async #surroundings(request: JobRequest): Promise<JobSurroundings> {
    const { cluster, template, name, domain, namespace, hasNoTemplate } = this.#context;
    if (!cluster || !template || domain === undefined) {
      if (!hasNoTemplate) throw new Error(`the StatefulSet ${name} is not known yet`);
      const what = `there is no StatefulSet ${name}, by which its Jobs are made; apply the manifests of the cluster again`;
      throw new AgentError(ExitCode.usage, what);
    }
    const scheme = cluster.spec.tls ? 'https' : 'http';
    const there = [...(await this.#addresses()).keys()];
    const host = (ordinal: number) => `${name}-${ordinal}.${name}-peers.${namespace}.svc.${domain}`;
    const backupName = request.restore?.source.backupName;
    return {
      cluster,
      template,
      endpoints: Object.fromEntries(there.map((ordinal) => [ordinal, `${scheme}://${host(ordinal)}:${ports.client}`])),
      peerName: host(0),
      ...(typeof backupName === 'string' && { backup: await this.#backup(backupName) }),
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
      throw new AgentError(ExitCode.usage, `the schedule ${found.spec.schedule} of EtcdBackup ${backupName} is gone`);
    const key = keyOf(found);
    return { store, id, folder: folderOf(found), ...(key !== undefined && { key }) };
  }

  /** It may be another cluster's. */
  async #scheduleOf({ spec }: EtcdBackupObject): Promise<Schedule | undefined> {
    if (spec.schedule === undefined) return undefined;
    const { client, paths } = this.#context;
    const query = { fieldSelector: `metadata.name=${spec.clusterName}` };
    const { items } = await client.list<EtcdClusterObject>(paths.of('etcdclusters'), query);
    const [cluster] = items.filter(({ metadata }) => metadata.name === spec.clusterName);
    return cluster?.spec.backup?.schedules?.find(({ name }) => name === spec.schedule);
  }
}

/**
 * Of a Job that succeeded. Its pod may be gone, with a drain or its node, and what it said with it: then nothing is known,
 * and whoever needs it asks again. A pod that is there may have its last words still on their way.
 */
function outcome(pods: readonly PodObject[]): Partial<Job> {
  if (pods.length === 0) return {};
  const result = jobResult(pods);
  if (result?.snapshot) {
    const { id, revision, sha256 } = result.snapshot;
    return { backup: { id, revision, sha256 } };
  }
  if (!pods.some(hasEnded)) return { state: 'Running' };
  return { state: 'Failed', message: result?.error ?? 'its pod ended well and said of no snapshot' };
}
