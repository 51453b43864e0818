import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { cacheDirectory } from '../../harness/etcd-binaries.ts';
import { ServerProcess } from '../../harness/server-process.ts';

const tools = resolve(import.meta.dirname, '../../../../test/tools');
const programs = {
  go: [join(cacheDirectory, 'go-client/go-client')],
  node: [process.execPath, join(tools, 'node-client/main.mjs')],
  python: [join(cacheDirectory, 'python/bin/python'), '-B', join(tools, 'python-client/main.py')],
} as const;
export type Language = keyof typeof programs;
export const languages = Object.keys(programs) as Language[];

/** Files that a client reads again. `certificate`: also its key, but not `ca.crt`; only the client in Go can do that. */
export type Reads = 'all' | 'certificate' | 'none';

export interface ClientOptions {
  readonly language: Language;
  readonly reads: Reads;
  readonly endpoints: readonly string[];
  /** Of its files. */
  readonly directory: string;
  /** Of its output. */
  readonly logs: string;
}

interface Failure {
  readonly key: string;
  readonly error: string;
}

interface Summary {
  readonly written: number;
  readonly failed: number;
  /** Between two acknowledged writes, ms. */
  readonly longestGap: number;
}

/** Another program, which writes one key every 20 ms or so, and tries again for a second after the first error of each. */
export class WritingClient {
  readonly name: string;
  readonly #log: string;
  readonly #process: ServerProcess;

  private constructor(name: string, log: string, process: ServerProcess) {
    this.name = name;
    this.#log = log;
    this.#process = process;
  }

  static async start({ language, reads, endpoints, directory, logs }: ClientOptions): Promise<WritingClient> {
    const [program, ...script] = programs[language];
    if (!existsSync(program)) throw new Error(`no ${program}; run \`npm run suite -- clients\``);
    const name = `${language}-${reads}`;
    const log = join(logs, `${name}.log`);
    const options = { endpoints: endpoints.join(), directory, prefix: `${name}-`, reads };
    const args = Object.entries(options).flatMap(([key, value]) => [`--${key}`, value]);
    return new WritingClient(name, log, await ServerProcess.spawn(name, program, [...script, ...args], log));
  }

  /** Lines of its output that are JSON. The client in Go logs lines of its library, too. */
  async #lines(): Promise<Partial<Failure & Summary>[]> {
    const lines = (await readFile(this.#log, 'utf8')).split('\n');
    return lines
      .filter((line) => /^\{"(error|failed|key|longestGap|written)":.*\}$/.test(line))
      .map((line) => JSON.parse(line));
  }

  async written(): Promise<number> {
    return (await this.#lines()).findLast(({ written }) => written !== undefined)?.written ?? 0;
  }

  async failures(): Promise<Failure[]> {
    return (await this.#lines()).filter((line): line is Failure => line.key !== undefined);
  }

  /** Waits until so many more writes were acknowledged. */
  async more(count: number): Promise<void> {
    const wanted = (await this.written()) + count;
    await this.#process.until(async () => (await this.written()) >= wanted, 120);
  }

  /** Waits until three writes failed, one after the other. */
  async isBroken(): Promise<void> {
    const failing = async () => {
      const last = (await this.#lines()).slice(-3);
      return last.length === 3 && last.every(({ key }) => key !== undefined);
    };
    await this.#process.until(failing, 120);
  }

  async stop(): Promise<Summary> {
    await this.#process.stop();
    const summary = (await this.#lines()).at(-1);
    if (summary?.longestGap === undefined)
      throw new Error(`${this.name} ended without a summary: ${(await this.failures()).at(-1)?.error}`);
    return summary as Summary;
  }

  async kill(): Promise<void> {
    await this.#process.kill();
  }

  /** The keys of all acknowledged writes, in the end. */
  async acknowledged({ written, failed }: Summary): Promise<string[]> {
    const missing = new Set((await this.failures()).map(({ key }) => key));
    expect(missing.size).toBe(failed);
    const tried = Array.from({ length: written + failed }, (_, n) => `${this.name}-${n}`);
    return tried.filter((key) => !missing.has(key));
  }
}
