import { spawn } from 'node:child_process';
import {
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { etcdutl } from '../harness/etcd-binaries.ts';

const repository = join(import.meta.dirname, '../../..');
export const folders = join(import.meta.dirname, 'folders');

export interface How {
  /** Kill the agent after this call of the store: `put KEY` or `delete KEY`. */
  readonly kill?: string;
  /** Root of the checkout whose agent runs. */
  readonly root?: string;
  /** Store, below that of the story. */
  readonly store?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Exit code. */
  readonly ends?: number;
}

/** A store, and what happens to it. */
export class Story {
  readonly name: string;
  readonly place: string;
  readonly #objectKeys: string[] = [];
  readonly #clusters: { cluster: string; namespace?: string }[] = [];
  readonly #beside = new Set<string>();

  private constructor(name: string, place: string) {
    this.name = name;
    this.place = place;
  }

  static async begin(name: string): Promise<Story> {
    return new Story(name, await mkdtemp(join(tmpdir(), `golden-${name}-`)));
  }

  get store(): string {
    return join(this.place, 'store');
  }

  /** Runs the agent at a time, on the store. */
  async agent(at: string, args: readonly string[], { kill, root = repository, store = '', env, ends = 0 }: How = {}) {
    await mkdir(this.store, { recursive: true });
    const child = spawn(
      process.execPath,
      [
        '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
        join(import.meta.dirname, 'run-agent.mts'),
        ...args,
        `--store=file://${join(this.store, store)}`,
      ],
      {
        env: {
          ...process.env,
          ...{ GOLDEN_NOW: at, GOLDEN_ROOT: root, GOLDEN_KILL: kill ?? '', TZ: 'UTC' },
          PATH: `${dirname(etcdutl())}:${process.env.PATH}`,
          ...env,
        },
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.stderr.on('data', (chunk) => (text += chunk));
    const ended = await new Promise<number | string>((resolve) =>
      child.on('close', (code, signal) => resolve(code ?? signal!)),
    );
    const wanted = kill ? 'SIGKILL' : ends;
    console.log(`${this.name} ${at} ${args.join(' ')}: ${ended}`);
    if (ended !== wanted) throw new Error(`${this.name}: ${args.join(' ')}: ${ended}, not ${wanted}: ${text}`);
    return text;
  }

  /** Writes an object as another program does. */
  async write(key: string, bytes: Uint8Array | string, at: string): Promise<void> {
    await mkdir(dirname(this.path(key)), { recursive: true });
    await writeFile(this.path(key), bytes);
    await this.touch(key, at);
  }

  async touch(key: string, at: string): Promise<void> {
    await utimes(this.path(key), new Date(at), new Date(at));
  }

  async move(from: string, to: string): Promise<void> {
    await mkdir(dirname(this.path(to)), { recursive: true });
    await rename(this.path(from), this.path(to));
  }

  async copy(from: string, to: string): Promise<void> {
    await mkdir(dirname(this.path(to)), { recursive: true });
    await cp(this.path(from), this.path(to), { recursive: true, preserveTimestamps: true });
  }

  async remove(key: string): Promise<void> {
    await rm(this.path(key));
  }

  async link(key: string, target: string): Promise<void> {
    await symlink(target, this.path(key));
  }

  path(key: string): string {
    return join(this.store, key);
  }

  /** Objects in the store, sorted. */
  async keys(pattern = /./): Promise<string[]> {
    const names = await readdir(this.store, { recursive: true });
    const found: string[] = [];
    for (const name of names) if (!(await lstat(join(this.store, name))).isDirectory()) found.push(name);
    return found.filter((name) => pattern.test(name)).sort();
  }

  /** The one object of that name. */
  async key(pattern: RegExp): Promise<string> {
    const found = await this.keys(pattern);
    if (found.length !== 1) throw new Error(`${this.name}: ${pattern} is ${found.join(', ') || 'nothing'}`);
    return found[0]!;
  }

  /** Keeps a file that a restore leaves outside the store, the newest one of that name. */
  async beside(name: string, text: string): Promise<void> {
    await writeFile(join(this.place, name), text);
    this.#beside.add(name);
  }

  /** Says that the test fetches what lies under this exact key. */
  exact(...keys: string[]): void {
    this.#objectKeys.push(...keys);
  }

  /** Says that the test asks for this cluster, although no list of the store has it. */
  cluster(cluster: string, namespace?: string): void {
    this.#clusters.push({ cluster, ...(namespace !== undefined && { namespace }) });
  }

  /** Keeps the store as a golden folder, which is read at this time. `over`: the folder that it lies over. */
  async keep(now: string, over?: string): Promise<void> {
    const to = join(folders, this.name);
    await mkdir(to, { recursive: true });
    const lines: string[] = [];
    for (const key of await this.keys()) {
      const file = this.path(key);
      if ((await lstat(file)).isSymbolicLink()) {
        lines.push(`${key} -> ${relative(dirname(file), join(dirname(file), await readlink(file)))}`);
        continue;
      }
      lines.push(`${key} ${(await stat(file)).mtime.toISOString()}`);
      await mkdir(dirname(join(to, 'store', key)), { recursive: true });
      await cp(file, join(to, 'store', key));
    }
    const objectKeys = this.#objectKeys.length > 0 ? { objectKeys: this.#objectKeys } : {};
    const clusters = this.#clusters.length > 0 ? { clusters: this.#clusters } : {};
    await writeFile(join(to, 'folder.json'), `${JSON.stringify({ now, over, ...clusters, ...objectKeys }, null, 2)}\n`);
    await writeFile(join(to, 'times.txt'), `${lines.join('\n')}\n`);
    for (const name of this.#beside) await cp(join(this.place, name), join(to, name));
    await rm(this.place, { recursive: true });
  }
}
