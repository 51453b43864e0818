import { readFile } from 'node:fs/promises';
import type { JobRequest } from '../../../src/controllers/port/effect.ts';
import type { Job, JobKind } from '../../../src/controllers/port/observed.ts';
import type { Jobs } from '../../../src/controllers/port/port.ts';
import { get } from '../get.ts';
import { Conflict, type FileStore, type Stored } from '../store.ts';
import type { JobWorld } from './job-facts.ts';
import { type JobObject, type JobStatus, nameOf } from './job-object.ts';
import { JobRun } from './job-run.ts';

/** The reconciler's view: objects, and the status that the pod of the restore Job reports. */
export class LocalJobs implements Jobs {
  readonly #store: FileStore;

  constructor(store: FileStore) {
    this.#store = store;
  }

  async jobs(): Promise<Job[]> {
    return Promise.all(this.#store.list<JobObject>('jobs').map(seen));
  }

  async create(request: JobRequest): Promise<void> {
    this.#store.create<JobObject>(nameOf(request.kind), {
      request,
      deleting: false,
      status: { state: 'Running', failures: 0 },
    });
  }

  async remove(kind: JobKind, uid: string): Promise<void> {
    const old = this.#store.read<JobObject>(nameOf(kind));
    if (!old) return;
    if (old.uid !== uid) throw new Conflict(`Job ${kind} is another one`);
    this.#store.update<JobObject>(nameOf(kind), old.rv, (job) => ({ ...job, deleting: true }));
  }
}

async function seen({ request, uid, deleting, status }: Stored<JobObject>): Promise<Job> {
  const { state, message, backup, url } = status;
  const serving =
    request.kind === 'restore' && state === 'Running' && url ? await servingAt(url, status.ca) : undefined;
  return {
    kind: request.kind,
    uid,
    op: request.op,
    state,
    deleting,
    ...(message !== undefined && { message }),
    ...(backup && { backup }),
    ...(serving && { serving }),
  };
}

async function servingAt(url: string, ca: string | undefined): Promise<Job['serving'] | undefined> {
  try {
    const { body } = await get(`${url}/status`, ca === undefined ? undefined : await readFile(ca), 2_000);
    const { state, sha256, sizeBytes, revision } = JSON.parse(body);
    return state === 'Serving' ? { url: `${url}/snapshot`, sha256, sizeBytes, revision } : undefined;
  } catch {
    // The pod is not running yet, or no longer.
    return undefined;
  }
}

/** The Job controller and its kubelet: one process for each Job, restarted as often as backoffLimit allows. */
export class JobController {
  readonly #world: JobWorld;
  readonly #runs = new Map<string, JobRun>();

  constructor(world: JobWorld) {
    this.#world = world;
  }

  tick(): void {
    const { store } = this.#world;
    if (store.unreachable) return;
    const jobs = store.list<JobObject>('jobs');
    for (const job of jobs) this.#control(job);
    for (const [uid, run] of this.#runs) if (!jobs.some((job) => job.uid === uid)) void run.stop();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#runs.values()].map((run) => run.stop()));
  }

  #control(job: Stored<JobObject>): void {
    const run = this.#runs.get(job.uid);
    if (job.deleting) void this.#remove(job, run);
    else if (run) this.#update(job, run.status);
    else if (job.status.state === 'Running') this.#runs.set(job.uid, new JobRun(this.#world, job));
  }

  #update({ request, uid, status: old }: Stored<JobObject>, status: JobStatus): void {
    if (JSON.stringify(old) === JSON.stringify(status)) return;
    this.#world.store.update<JobObject>(nameOf(request.kind), undefined, (job) =>
      job.uid === uid ? { ...job, status } : job,
    );
  }

  async #remove({ request, uid }: Stored<JobObject>, run: JobRun | undefined): Promise<void> {
    if (run?.stopping) return;
    await run?.stop();
    this.#runs.delete(uid);
    const { store } = this.#world;
    if (store.read(nameOf(request.kind))?.uid === uid) store.remove(nameOf(request.kind), uid);
  }
}
