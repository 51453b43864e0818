import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jobCommand } from '../../../src/controllers/jobs/job-arguments.ts';
import type { Job } from '../../../src/controllers/port/observed.ts';
import { ExitCode, messageOf } from '../../../src/lib/errors.ts';
import { etcdutl } from '../../harness/etcd-binaries.ts';
import { freePorts } from '../../harness/free-ports.ts';
import { reap, spare } from '../../harness/reaper.ts';
import type { Stored } from '../store.ts';
import { factsOf, type JobWorld } from './job-facts.ts';
import type { JobObject, JobStatus } from './job-object.ts';

const backoffLimit = 3;
const graceMs = 10_000;
const finalCodes: readonly number[] = [
  ExitCode.usage,
  ExitCode.partial,
  ExitCode.sourceSuspect,
  ExitCode.storeRefused,
  ExitCode.verificationFailed,
  ExitCode.refused,
];

/** Runs one pod after the other, each with its own empty directory. */
export class JobRun {
  status: JobStatus;
  stopping = false;
  readonly #world: JobWorld;
  readonly #job: Stored<JobObject>;
  readonly #ended: Promise<void>;
  readonly #stopped = new AbortController();
  #child: ChildProcess | undefined;

  constructor(world: JobWorld, job: Stored<JobObject>) {
    this.#world = world;
    this.#job = job;
    this.status = job.status;
    this.#ended = this.#run();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.#stopped.abort();
    this.#child?.kill('SIGTERM');
    const last = setTimeout(() => this.#child?.kill('SIGKILL'), graceMs);
    await this.#ended;
    clearTimeout(last);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    for (let pod = 0; !signal.aborted && this.status.state === 'Running'; pod++) {
      if (pod > 0) await sleep(Math.min(100 * 2 ** pod, 2_000), undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.#pod(pod);
      } catch (error) {
        this.status = { ...this.status, state: 'Failed', message: messageOf(error) };
      }
    }
  }

  async #pod(number: number): Promise<void> {
    const { dir, tls } = this.#world;
    const { request, uid } = this.#job;
    const scratch = join(dir, 'jobs', `${request.kind}-${uid}-${number}`);
    mkdirSync(scratch, { recursive: true });
    const termination = join(scratch, 'termination');
    try {
      const [port] = request.kind === 'restore' ? await freePorts(1) : [];
      const { args, env } = jobCommand(request, factsOf(this.#world, scratch, port));
      if (this.#stopped.signal.aborted) return;
      const child = this.#start(args, { ...env, ETCD_AGENT_TERMINATION_LOG: termination });
      const url = port === undefined ? {} : { url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`, ca: tls?.ca };
      this.status = { ...this.status, pid: child.pid!, ...url };
      const code = await this.#exit(child);
      this.#settle(code, readResult(termination));
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }

  #start(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
    const { dir, agent } = this.#world;
    const [program, ...first] = agent;
    const log = openSync(join(dir, 'logs', `job-${this.#job.request.kind}.log`), 'a');
    const PATH = [dirname(etcdutl()), process.env.PATH].join(delimiter);
    const child = spawn(program!, [...first, ...args], { stdio: ['ignore', log, log], env: { PATH, ...env } });
    closeSync(log);
    this.#child = child;
    return child;
  }

  async #exit(child: ChildProcess): Promise<number | null> {
    reap(child.pid!);
    const [code] = await once(child, 'exit');
    spare(child.pid!);
    this.#child = undefined;
    return code;
  }

  #settle(code: number | null, result: Result): void {
    const { pid: _, url: __, ca: ___, ...status } = this.status;
    if (code === 0) {
      const backup = backupOf(result);
      this.status = { ...status, state: 'Succeeded', ...(backup && { backup }) };
      return;
    }
    // SIGTERM: its node was drained, which does not count as a failure.
    const failures = status.failures + (code === ExitCode.terminated ? 0 : 1);
    const failed = failures > backoffLimit || finalCodes.includes(code ?? -1);
    const message = result.error ?? (code === null ? 'its pod was killed' : `its pod ended with ${code}`);
    this.status = { ...status, failures, message, state: failed ? 'Failed' : 'Running' };
  }
}

interface Result {
  readonly error?: string;
  readonly snapshot?: { readonly id: string; readonly revision: number; readonly sha256: string };
}

function readResult(file: string): Result {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

function backupOf({ snapshot }: Result): Job['backup'] | undefined {
  return snapshot && { id: snapshot.id, revision: snapshot.revision, sha256: snapshot.sha256 };
}
