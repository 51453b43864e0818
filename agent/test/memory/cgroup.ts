import { randomBytes } from 'node:crypto';
import { access, mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = '/sys/fs/cgroup';
const PERIOD = 100_000;

export interface Limits {
  /** Limit in bytes, including the page cache; swap is not allowed. */
  readonly memory: number;
  /** Limit in cores: 0.1 is Kubernetes' 100m. Default: no limit. */
  readonly cpu?: number;
}

/** Values that the kernel counted. */
export interface Usage {
  /** Peak in bytes, including the page cache. */
  readonly peak: number;
  readonly oomKills: number;
  /** Number of times that the CPU limit delayed it. */
  readonly throttled: number;
}

/** A control group of the kernel, version 1 or 2, for the processes of one run. Only root can make one. */
export class Cgroup implements AsyncDisposable {
  /** Version 1 has one for each controller, version 2 one for all. */
  readonly #directories: { readonly memory: string; readonly cpu: string };
  readonly #version: 1 | 2;

  private constructor(version: 1 | 2, name: string) {
    const at = (controller: string) => (version === 1 ? join(ROOT, controller, name) : join(ROOT, name));
    this.#version = version;
    this.#directories = { memory: at('memory'), cpu: at('cpu') };
  }

  static async make(limits: Limits): Promise<Cgroup> {
    if (process.getuid?.() !== 0) throw new Error('memory makes control groups: run it as root, on Linux');
    const version = (await isThere(join(ROOT, 'cgroup.controllers'))) ? 2 : 1;
    const group = new Cgroup(version, `etcd-agent-test-${randomBytes(4).toString('hex')}`);
    try {
      await group.#create(limits);
      return group;
    } catch (error) {
      await group[Symbol.asyncDispose]();
      throw new Error(`memory: this machine gives no control group with a memory limit below ${ROOT}`, {
        cause: error,
      });
    }
  }

  async #create({ memory, cpu }: Limits): Promise<void> {
    if (this.#version === 2) await writeFile(join(ROOT, 'cgroup.subtree_control'), '+memory +cpu');
    for (const directory of new Set(Object.values(this.#directories))) await mkdir(directory);
    if (this.#version === 1) {
      await this.#set('memory', 'memory.limit_in_bytes', memory);
      await this.#set('memory', 'memory.swappiness', 0);
      await this.#set('memory', 'memory.memsw.limit_in_bytes', memory, true);
      if (cpu) await this.#set('cpu', 'cpu.cfs_quota_us', cpu * PERIOD);
      return;
    }
    await this.#set('memory', 'memory.max', memory);
    await this.#set('memory', 'memory.swap.max', 0, true);
    if (cpu) await this.#set('cpu', 'cpu.max', `${cpu * PERIOD} ${PERIOD}`);
  }

  async #set(controller: 'memory' | 'cpu', file: string, value: number | string, optional = false): Promise<void> {
    const path = join(this.#directories[controller], file);
    // A kernel that does not account for swap has no such file; such a machine must not swap.
    if (optional && !(await isThere(path))) return;
    await writeFile(path, String(value));
  }

  /** Returns a command line that runs another one in the group. */
  enter(command: readonly string[]): string[] {
    const files = [...new Set(Object.values(this.#directories))].map((directory) => join(directory, 'cgroup.procs'));
    const joins = files.map((file) => `echo $$ > ${file}`).join(' && ');
    return ['sh', '-c', `${joins} && exec "$@"`, 'sh', ...command];
  }

  async usage(): Promise<Usage> {
    const v1 = this.#version === 1;
    const peak = await this.#read('memory', v1 ? 'memory.max_usage_in_bytes' : 'memory.peak');
    return {
      peak: Number(peak),
      oomKills: field(await this.#read('memory', v1 ? 'memory.oom_control' : 'memory.events'), 'oom_kill'),
      throttled: field(await this.#read('cpu', 'cpu.stat'), 'nr_throttled'),
    };
  }

  /** Returns the bytes in use that the kernel cannot reclaim: neither page cache nor files mapped into memory. */
  async anonymous(): Promise<number> {
    return field(await this.#read('memory', 'memory.stat'), this.#version === 1 ? 'rss' : 'anon');
  }

  #read(controller: 'memory' | 'cpu', file: string): Promise<string> {
    return readFile(join(this.#directories[controller], file), 'utf8');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const directory of new Set(Object.values(this.#directories))) await removeGroup(directory);
  }
}

async function removeGroup(directory: string): Promise<void> {
  for (let attempt = 0; await isThere(directory); attempt++) {
    // It remains busy for a moment after its last process has ended.
    await rmdir(directory).catch((error) => {
      if (attempt === 50) throw error;
    });
    await sleep(20);
  }
}

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

const field = (text: string, name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
