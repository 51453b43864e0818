import { execFile } from 'node:child_process';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';

const NOT_FOUND =
  'etcdutl was not found; install one of etcd 3.5 or newer (the newest is best) or name it with --etcdutl';

/** Of an etcd that never had a key; the tool says 0. */
const FIRST_REVISION = 1;

export interface RunResult {
  /** −1: it was killed. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds after which it is killed. */
  readonly timeout?: number;
}

/** What the tool says of a file. Its words can hold values of keys, so they are only for telling outcomes apart. */
export type Answer<T> =
  | { readonly outcome: 'found'; readonly value: T }
  | { readonly outcome: 'refused' }
  /** This says nothing about the file: the version of the tool can't do it, or it was killed. */
  | { readonly outcome: 'unable'; readonly why: string };

export interface SnapshotStatus {
  /** Too low where a compaction left no key of it. */
  readonly revision: number;
  /** As this tool counts them: 3.5 and 3.6 do not agree what counts. */
  readonly keys: number;
  readonly storageVersion?: string;
}

/** etcd's offline tool, of any version from 3.5 on. It crashes on damaged files, so a failure is an answer, not an error. */
export class Etcdutl {
  readonly #program: string;

  constructor(program: string) {
    this.#program = program;
  }

  async run(args: readonly string[], { signal, timeout }: RunOptions = {}): Promise<RunResult> {
    const { promise, resolve, reject } = Promise.withResolvers<RunResult>();
    const options = { signal, timeout, killSignal: 'SIGKILL', maxBuffer: 4 * 1024 * 1024 } as const;
    execFile(this.#program, args, options, (error, stdout, stderr) => {
      if (signal?.aborted) reject(signal.reason);
      else if (['ENOENT', 'EACCES'].includes(codeOf(error) ?? '')) reject(new AgentError(ExitCode.usage, NOT_FOUND));
      else resolve({ exitCode: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr });
    });
    return promise;
  }

  /** What a snapshot file holds; the storage version where it has one and the tool is of 3.6 or newer. */
  async snapshotStatus(file: string, options: RunOptions): Promise<Answer<SnapshotStatus>> {
    const result = await this.run(['snapshot', 'status', file, '-w', 'json'], options);
    const { revision, totalKey, version } = parse(result) ?? {};
    if (typeof revision !== 'number') return noAnswer(result);
    const storageVersion = typeof version === 'string' && version ? version : undefined;
    return {
      outcome: 'found',
      value: { revision: Math.max(revision, FIRST_REVISION), keys: Number(totalKey ?? 0), storageVersion },
    };
  }

  /**
   * HashKV of a snapshot file. It WRITES to the file, so only ever give it a copy. 3.5 has no such command, and 3.6
   * panics on keys with a lease.
   */
  async hashKV(
    copy: string,
    revision: number,
    options: RunOptions,
  ): Promise<Answer<{ hash: number; compactRevision: number }>> {
    const result = await this.run(['hashkv', copy, '--rev', String(revision), '-w', 'json'], options);
    const found = parse(result);
    if (typeof found?.hash === 'number') {
      const { hash, compactRevision } = found;
      return { outcome: 'found', value: { hash, compactRevision: Number(compactRevision ?? 0) } };
    }
    if (/unknown command|no lessor/.test(result.stderr)) {
      return { outcome: 'unable', why: 'this etcdutl cannot compute its HashKV; use one of etcd 3.7' };
    }
    if (/has been compacted/.test(result.stderr)) return { outcome: 'unable', why: 'it was compacted meanwhile' };
    return noAnswer(result);
  }
}

function noAnswer({ exitCode }: RunResult): Answer<never> {
  if (exitCode !== -1) return { outcome: 'refused' };
  return { outcome: 'unable', why: 'etcdutl was killed or took too long; it may need more memory' };
}

function parse({ exitCode, stdout }: RunResult): Record<string, unknown> | undefined {
  try {
    return exitCode === 0 ? JSON.parse(stdout) : undefined;
  } catch {
    return undefined;
  }
}

/** The last line of a failed run that says something, without etcd's log fields. */
export function reasonOf({ exitCode, stderr }: RunResult): string {
  const line = stderr.split('\n').findLast((text) => /error|panic|fatal|fail|mismatch|missing/i.test(text)) ?? '';
  const message = /"(?:error|msg)":"([^"]+)"/.exec(line)?.[1] ?? line.trim();
  return message.slice(0, 300) || `exit code ${exitCode}`;
}
