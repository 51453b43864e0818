import { execFile } from 'node:child_process';
import { codeOf, usageError } from '../../lib/errors.ts';

/** Revision of an etcd that never had a key. etcdutl reports 0. */
const FIRST_REVISION = 1;

export interface RunResult {
  /** −1 if the process was killed. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds after which the process is killed. */
  readonly timeout?: number;
}

/**
 * Result of etcdutl for a file. Its output may contain values of keys, so it is used only to distinguish outcomes. Only
 * errors with a fixed text are shown.
 */
export type EtcdutlAnswer<T> =
  | { readonly outcome: 'found'; readonly value: T }
  | { readonly outcome: 'refused'; readonly why: string }
  /** Says nothing about the file: this version of etcdutl lacks the function, or it was killed. */
  | { readonly outcome: 'unable'; readonly why: string };

export interface SnapshotStatus {
  /** Too low if a compaction left no key at the newest revision. */
  readonly revision: number;
  /** Number of keys as this version counts them: 3.5 and 3.6 count differently. */
  readonly keys: number;
  readonly storageVersion?: string;
}

/**
 * Runs etcd's offline tool, of any version from 3.5 on. It crashes on damaged files, so a failure is a result and not
 * an error.
 */
export class Etcdutl {
  readonly #program: string;

  constructor(program: string) {
    this.#program = program;
  }

  /** Throws a usage error if the program is not etcdutl: then it says nothing about the file. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    const result = await this.#execute(args, options);
    if (result.exitCode > 0) await this.#refuseOther(options);
    return result;
  }

  /** The version that it reports. Undefined if it reports none, as another program. */
  async version(options: RunOptions): Promise<string | undefined> {
    return versionIn(await this.#execute(['version'], options));
  }

  async #refuseOther({ signal }: RunOptions): Promise<void> {
    const result = await this.#execute(['version'], { signal, timeout: 30_000 });
    if (result.exitCode === -1 || versionIn(result) !== undefined) return;
    throw usageError(
      `${this.#program} is not etcdutl, or does not run on this machine: it reports no version; name etcdutl of etcd 3.5 or newer`,
      { at: 'etcdutl' },
    );
  }

  async #execute(args: readonly string[], { signal, timeout }: RunOptions): Promise<RunResult> {
    const { promise, resolve, reject } = Promise.withResolvers<RunResult>();
    const options = { signal, timeout, killSignal: 'SIGKILL', maxBuffer: 4 * 1024 * 1024 } as const;
    execFile(this.#program, args, options, (error, stdout, stderr) => {
      if (signal?.aborted) reject(signal.reason);
      else if (['ENOENT', 'EACCES'].includes(codeOf(error) ?? ''))
        reject(usageError('etcdutl was not found', { finding: { kind: 'etcdutlMissing' } }));
      else resolve({ exitCode: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr });
    });
    return promise;
  }

  /**
   * Reads the status of a snapshot file. The storage version is known only if the file has one and etcdutl is 3.6 or
   * newer.
   */
  async snapshotStatus(file: string, options: RunOptions): Promise<EtcdutlAnswer<SnapshotStatus>> {
    const result = await this.run(['snapshot', 'status', file, '-w', 'json'], options);
    const { revision, totalKey, version } = parse(result) ?? {};
    if (typeof revision !== 'number') return this.#noAnswer(result, 'cannot open the database', options);
    const storageVersion = typeof version === 'string' && version ? version : undefined;
    return {
      outcome: 'found',
      value: { revision: Math.max(revision, FIRST_REVISION), keys: Number(totalKey ?? 0), storageVersion },
    };
  }

  /**
   * Computes HashKV of a snapshot file. etcdutl WRITES to the file, so always pass a copy. 3.5 lacks this command, and 3.6
   * panics on keys with a lease.
   */
  async hashKV(
    copy: string,
    revision: number,
    options: RunOptions,
  ): Promise<EtcdutlAnswer<{ hash: number; compactRevision: number }>> {
    const result = await this.run(['hashkv', copy, '--rev', String(revision), '-w', 'json'], options);
    const found = parse(result);
    if (typeof found?.hash === 'number') {
      const { hash, compactRevision } = found;
      return { outcome: 'found', value: { hash, compactRevision: Number(compactRevision ?? 0) } };
    }
    if (/unknown command|no lessor/.test(result.stderr)) {
      return { outcome: 'unable', why: 'this etcdutl cannot compute its HashKV; use etcdutl 3.7' };
    }
    if (/has been compacted/.test(result.stderr)) return { outcome: 'unable', why: 'it was compacted meanwhile' };
    return this.#noAnswer(result, 'cannot read the keys of the database', options);
  }

  async #noAnswer(result: RunResult, verdict: string, options: RunOptions): Promise<EtcdutlAnswer<never>> {
    if (result.exitCode === 0) await this.#refuseOther(options);
    return noAnswer(result, verdict);
  }
}

/** Errors of etcdutl and the kernel that contain nothing of the file. */
const FIXED =
  /invalid database|version mismatch|checksum error|integrity check failed|cannot allocate memory|no space left on device|permission denied|input\/output error/;

const versionIn = ({ exitCode, stdout }: RunResult): string | undefined =>
  exitCode === 0 ? /etcdutl version: (\S+)/.exec(stdout)?.[1] : undefined;

function noAnswer({ exitCode, stderr }: RunResult, verdict: string): EtcdutlAnswer<never> {
  if (exitCode !== -1)
    return { outcome: 'refused', why: `etcdutl ${verdict} (${FIXED.exec(stderr)?.[0] ?? `exit code ${exitCode}`})` };
  return { outcome: 'unable', why: 'etcdutl was killed or took too long; it may need more memory' };
}

function parse({ exitCode, stdout }: RunResult): Record<string, unknown> | undefined {
  try {
    return exitCode === 0 ? JSON.parse(stdout) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the last meaningful line of a failed run, without etcd's log fields. */
export function reasonOf({ exitCode, stderr }: RunResult): string {
  const line = stderr.split('\n').findLast((text) => /error|panic|fatal|fail|mismatch|missing/i.test(text)) ?? '';
  const message = /"(?:error|msg)":"([^"]+)"/.exec(line)?.[1] ?? line.trim();
  return message.slice(0, 300) || `exit code ${exitCode}`;
}
