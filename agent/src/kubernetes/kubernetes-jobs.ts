import { ports } from '../../../src/cluster-ports.ts';
import { AgentError, ExitCode } from '../errors.ts';
import type { JobRequest } from '../reconcile/effect.ts';
import type { Job, JobKind } from '../reconcile/observed.ts';
import type { Jobs } from '../reconcile/port.ts';
import { unlessMissing } from './api-error.ts';
import { type EtcdBackupObject, folderOf } from './backup-object.ts';
import { keyOf, storesOf } from './backup-stores.ts';
import type { ClusterContext } from './cluster-context.ts';
import type { EtcdClusterObject, Schedule } from './cluster-object.ts';
import { getJson } from './http-get.ts';
import { type JobSurroundings, jobManifest, opAnnotation, type StoredBackup } from './job-manifest.ts';
import { jobCondition, jobResult } from './job-result.ts';
import type { JobObject, KubeObject, PodObject } from './objects.ts';
import { addressOf } from './pod.ts';

const kinds: readonly JobKind[] = ['pre-upgrade', 'final', 'safety', 'recovery', 'restore', 'salvage'];

/** The Jobs of a cluster's operations, and what their pods tell of themselves. */
export class KubernetesJobs implements Jobs {
  readonly #context: ClusterContext;
  readonly #addresses: () => Promise<ReadonlyMap<number, string>>;
  /** Those that cannot be made, by kind, as if they had been and had failed. */
  readonly #refused = new Map<JobKind, Job>();
  #served: { readonly op: string; readonly id: string } | undefined;

  constructor(context: ClusterContext, addresses: () => Promise<ReadonlyMap<number, string>>) {
    this.#context = context;
    this.#addresses = addresses;
  }

  /** The snapshot that the restore Job serves, or served last, and for which operation. */
  get served(): { readonly op: string; readonly id: string } | undefined {
    return this.#served;
  }

  async jobs(): Promise<Job[]> {
    // Of one that there is, the pods tell more, and no watch of them.
    const ours = await this.#context.look.at(
      'jobs',
      () => this.#list(),
      (found) => found.length === 0,
    );
    for (const { kind } of ours) this.#refused.delete(kind);
    return [...(await Promise.all(ours.map(({ job, kind }) => this.#job(job, kind)))), ...this.#refused.values()];
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

  async #job(job: JobObject, kind: JobKind): Promise<Job> {
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
    const pods = await this.#podsOf(metadata.name);
    if (state === 'Running') {
      const serving = kind === 'restore' ? await this.#serving(pods, found.op) : undefined;
      return { ...found, ...(serving && { serving }) };
    }
    const result = jobResult(pods);
    const message = failed && (result?.error ?? failed.message ?? failed.reason);
    const backup = state === 'Succeeded' ? result?.snapshot : undefined;
    return {
      ...found,
      ...(message && { message }),
      ...(backup && { backup: { id: backup.id, revision: backup.revision, sha256: backup.sha256 } }),
    };
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

  async #podsOf(job: string): Promise<PodObject[]> {
    const { client, paths } = this.#context;
    const labelSelector = `batch.kubernetes.io/job-name=${job}`;
    const { items } = await client.list<PodObject>(paths.of('pods'), { labelSelector });
    return items;
  }

  /** undefined while its pod is not up, or verifies. */
  async #serving(pods: readonly PodObject[], op: string): Promise<Job['serving']> {
    const address = pods
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(addressOf)
      .find((found) => found !== undefined);
    if (address === undefined) return undefined;
    const url = this.#context.urlOf(address, ports.agent);
    try {
      const status = await getJson<NonNullable<Job['serving']> & { state: string; id: string }>(`${url}/status`, {
        // It shows the members' certificate, whose authority is not known here. The gate checks it, and the sum.
        rejectUnauthorized: false,
        signal: AbortSignal.timeout(this.#context.settings.observeRpc / 2),
      });
      if (status.state !== 'Serving') return undefined;
      const { id, sha256, sizeBytes, revision } = status;
      this.#served = { op, id };
      return { url: `${url}/snapshot`, sha256, sizeBytes, revision };
    } catch {
      return undefined;
    }
  }

  async #surroundings(request: JobRequest): Promise<JobSurroundings> {
    const { cluster, template, name, domain, namespace } = this.#context;
    if (!cluster || !template) throw new Error(`the StatefulSet ${name} is not known yet`);
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
    if (!found || phase !== 'Completed' || id === undefined) {
      throw new AgentError(ExitCode.usage, `EtcdBackup ${backupName} is not there, or not completed`);
    }
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
