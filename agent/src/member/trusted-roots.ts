import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { certificatesIn, idOf, shortId } from '../lib/certificates.ts';
import { replaceFile } from '../lib/files/replace-file.ts';
import { withoutUndefined } from '../lib/without-undefined.ts';
import type { AgentStatus, TrustedRoots } from '../protocol/agent-status.ts';
import type { MemberConfig } from './member-config.ts';

// etcd reads ca.crt when it starts, and never again, while the kubelet replaces the file at any moment. What etcd read
// is known only if one content was seen before its process started and after it had read the file. All times are of the
// machine's monotonic clock: gate and sidecar share it, and no correction of the wall clock moves it. Not covered: a
// machine that was suspended, and a file that changes twice between two observations.

/** An etcd process, as the sidecar observed it. */
export interface ObservedEtcd {
  /** Start time from its metrics, RFC 3339. The process may have started up to a second later. */
  readonly upSince: string;
  /** It answers on the client port, so it has read every file. */
  readonly isServing: boolean;
}

const ends = ['peer', 'client'] as const;
type End = (typeof ends)[number];

const texts = z.partial(z.object({ peer: z.string(), client: z.string() }));
const memorySchema = z.object({
  boot: z.string(),
  /** The content of each ca.crt, and when it was first seen. */
  seen: z.partial(
    z.object({
      peer: z.object({ root: z.string(), since: z.number() }),
      client: z.object({ root: z.string(), since: z.number() }),
    }),
  ),
  loaded: z.optional(z.object({ start: z.number(), upSince: z.string(), roots: texts })),
});
type Memory = z.infer<typeof memorySchema>;

const monotonic = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;

/** Converts the start of a process from the wall clock to the monotonic clock. */
const startOf = (upSince: string): number => monotonic() - (Date.now() - Date.parse(upSince));

/**
 * Two reads of the start of one process may differ by whole seconds: the kernel adds a time since boot, in hundredths, to
 * the time of the boot, in seconds.
 */
function isSameProcess(loaded: NonNullable<Memory['loaded']>, upSince: string): boolean {
  const fraction = Math.abs(Date.parse(loaded.upSince) - Date.parse(upSince)) % 1_000;
  return Math.abs(loaded.start - startOf(upSince)) < 1_100 && Math.min(fraction, 1_000 - fraction) < 5;
}

type Config = Pick<MemberConfig, 'dataDir' | 'peerTlsDir' | 'serverTlsDir'>;

/** Remembers on the volume, for the next gate or sidecar, which roots this member's etcd has read. */
export class RootMemory {
  readonly #config: Config;
  #memory: Memory;
  #written = '';
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(config: Config, memory: Memory) {
    this.#config = config;
    this.#memory = memory;
  }

  static async open(config: Config): Promise<RootMemory> {
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')).trim();
    const memory = parse(await readFile(fileOf(config), 'utf8').catch(() => ''));
    // The monotonic clock restarts at every boot.
    return new RootMemory(config, memory?.boot === boot ? memory : { boot, seen: {} });
  }

  /** Reads the files. Throws if a change cannot be written to the volume, but remembers it nevertheless. */
  look(etcd?: ObservedEtcd): Promise<void> {
    const next = this.#turn.then(() => this.#look(etcd));
    this.#turn = next.catch(() => {});
    return next;
  }

  async #look(etcd: ObservedEtcd | undefined): Promise<void> {
    const found = await this.#onDisk();
    const now = monotonic();
    for (const end of ends) {
      const root = found[end];
      const since = this.#memory.seen[end]?.root === root ? Math.min(this.#memory.seen[end]?.since ?? now, now) : now;
      this.#memory.seen[end] = root === undefined ? undefined : { root, since };
    }
    if (etcd?.isServing && !this.knows(etcd.upSince)) {
      const start = startOf(etcd.upSince);
      this.#memory.loaded = { start, upSince: etcd.upSince, roots: this.#provenAt(start) };
    }
    const text = JSON.stringify(this.#memory);
    if (text === this.#written || (found.peer ?? found.client) === undefined) return;
    await replaceFile(fileOf(this.#config), text);
    this.#written = text;
  }

  /** Content that was there before the process started and is there after it has read the files. */
  #provenAt(start: number): z.infer<typeof texts> {
    const { seen } = this.#memory;
    const proven = ends.filter((end) => (seen[end]?.since ?? Number.POSITIVE_INFINITY) <= start);
    return Object.fromEntries(proven.map((end) => [end, seen[end]!.root]));
  }

  /** This process has been observed to serve. */
  knows(upSince: string): boolean {
    return this.#loadedBy(upSince) !== undefined;
  }

  #loadedBy(upSince: string): z.infer<typeof texts> | undefined {
    const { loaded } = this.#memory;
    return loaded && isSameProcess(loaded, upSince) ? loaded.roots : undefined;
  }

  /** `upSince` of the current process. Undefined if none answers. */
  async status(upSince: string | undefined): Promise<TrustedRoots | undefined> {
    const found = await this.#onDisk();
    const loaded = upSince === undefined ? undefined : this.#loadedBy(upSince);
    const known = ends.map((end) => [end, withoutUndefined({ onDisk: found[end], loaded: loaded?.[end] })] as const);
    const given = known.filter(([end]) => this.#directory(end) !== undefined);
    return given.length > 0 ? Object.fromEntries(given) : undefined;
  }

  async #onDisk(): Promise<Partial<Record<End, string>>> {
    const read = ends.map(async (end) => [end, await rootsIn(this.#directory(end))] as const);
    return Object.fromEntries(await Promise.all(read));
  }

  #directory(end: End): string | undefined {
    return end === 'peer' ? this.#config.peerTlsDir : this.#config.serverTlsDir;
  }
}

/** The certificate that etcd presents at each end. */
export async function leavesOf({ peerTlsDir, serverTlsDir }: Config): Promise<AgentStatus['leaves']> {
  const [peer, client] = await Promise.all([peerTlsDir, serverTlsDir].map(leafIn));
  return peer === undefined && client === undefined ? undefined : withoutUndefined({ peer, client });
}

async function leafIn(directory: string | undefined): Promise<string | undefined> {
  if (directory === undefined) return undefined;
  const [leaf] = certificatesIn(await readFile(join(directory, 'tls.crt'), 'utf8').catch(() => '')) ?? [];
  return leaf && shortId(idOf(leaf));
}

const fileOf = ({ dataDir }: Config): string => join(dataDir, 'roots.json');

function parse(text: string): Memory | undefined {
  try {
    return memorySchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** More roots than any rotation produces. */
const most = 8;

/** Ids of the certificates in ca.crt. Undefined if there is none, or if one cannot be parsed. */
async function rootsIn(directory: string | undefined): Promise<string | undefined> {
  if (directory === undefined) return undefined;
  const found = certificatesIn(await readFile(join(directory, 'ca.crt'), 'utf8').catch(() => ''));
  if (!found || found.length > most) return undefined;
  return [...new Set(found.map((each) => shortId(idOf(each))))].sort().join('+');
}
