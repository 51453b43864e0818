import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { compressions, type SnapshotManifest } from '../../src/backup/catalog/manifest.ts';
import { compress } from '../../src/backup/payload/compression.ts';
import { type Proof, verifySnapshot } from '../../src/backup/payload/verify.ts';
import { fetchSnapshot } from '../../src/backup/restore/restore.ts';
import { GrpcChannel } from '../../src/etcd/grpc.ts';
import { Etcdutl } from '../../src/etcd/offline/etcdutl.ts';
import { openSnapshot, TRAILER } from '../../src/etcd/snapshot-stream.ts';
import { AgentError, ExitCode } from '../../src/lib/errors.ts';
import { FilesystemStore } from '../../src/store/filesystem/filesystem-store.ts';
import { etcdutl } from '../harness/etcd-binaries.ts';
import { fakeEtcd } from '../support/fake-etcd.ts';
import { kinds, mutateBytes, mutateDatabase, seal } from './mutate.ts';
import { Random } from './random.ts';
import type { Specimen } from './specimen.ts';

/** One mutated snapshot, and the ways in which the agent can receive it. */
export interface Case {
  readonly what: string;
  /** The trailer matches the damaged database. */
  readonly sealed: boolean;
  readonly specimen: Specimen;
  /** Database and trailer, damaged. */
  readonly snapshot: Buffer;
  /** Damaged payload in the store, instead of the original. */
  readonly stored: Buffer;
  /** SHA-256 of the original payload. */
  readonly manifest: SnapshotManifest;
  /** Checksums of `snapshot`, as if etcd had sent it. Only HashKV is that of the cluster. */
  readonly deceived: { readonly manifest: SnapshotManifest; readonly stored: Buffer };
}

/** Bytes of the database in one message of etcd. */
const MESSAGE = 32 * 1024;

/** The n-th case of a seed: kinds, trailer, compression and specimens take turns. */
export async function makeCase(seed: number, n: number, specimens: readonly Specimen[]): Promise<Case> {
  const random = new Random(seed ^ Math.imul(n + 1, 0x9e3779b1));
  const specimen = specimens[n % specimens.length]!;
  const turn = Math.floor(n / specimens.length);
  const round = Math.floor(turn / kinds.length);
  const sealed = round % 2 === 0;
  const compression = compressions[round % 3]!;

  const database = specimen.snapshot.subarray(0, -TRAILER);
  const mutation = mutateDatabase(sealed ? database : specimen.snapshot, turn, random);
  const snapshot = sealed ? seal(mutation.bytes) : mutation.bytes;
  const compressed = (bytes: Buffer) => buffer(compress(compression, chunksOf(bytes)));
  const original = await compressed(specimen.snapshot);
  const damaged = await compressed(snapshot);
  const inStore = sealed || compression === 'none' ? undefined : mutateBytes(original, turn, random);
  const key = `orders/${specimen.manifest.id}.db`;
  const describe = (content: Buffer, object: Buffer): SnapshotManifest => ({
    ...specimen.manifest,
    content: {
      ...specimen.manifest.content,
      sizeBytes: content.length,
      sha256: sha256(content),
      trailerSha256: content.subarray(-TRAILER).toString('hex').padStart(64, '0'),
    },
    object: { key, sizeBytes: object.length, sha256: sha256(object), compression },
  });
  return {
    what: `${n} (etcd ${specimen.minor}, ${compression}, ${sealed ? 'trailer right' : 'trailer as it was'}): ${mutation.what}${inStore ? `; in the store: ${inStore.what}` : ''}`,
    sealed,
    specimen,
    snapshot,
    stored: inStore?.bytes ?? damaged,
    manifest: describe(specimen.snapshot, original),
    deceived: { manifest: describe(snapshot, damaged), stored: damaged },
  };
}

/** Returns what is wrong with the way in which a damaged payload in the store is refused. */
export async function attackStore({ manifest, stored, specimen }: Case, scratch: string): Promise<string | undefined> {
  return inStore(manifest, stored, scratch, async (store, directory) => {
    const target = join(directory, 'target');
    await mkdir(target);
    const options = { level: 'read', scratch: directory, etcdutl: new Etcdutl(etcdutl()) } as const;
    const verified = await outcome(verifySnapshot(store, manifest, options));
    if (verified !== ExitCode.verificationFailed) return `verify: ${verified}`;
    const file = join(target, 'snapshot.db');
    const fetched = await outcome(fetchSnapshot(store, manifest, file, {}));
    // Bytes after the end of a gzip stream do not change its content.
    if (fetched === 'accepted' && (await readFile(file)).equals(specimen.snapshot)) return undefined;
    if (fetched !== ExitCode.verificationFailed) return `fetch: ${fetched}`;
    const left = await readdir(target);
    return left.length > 0 ? `fetch left ${left}` : undefined;
  });
}

/** Returns what is wrong with the way in which a damaged stream is refused, or accepted if only its data are wrong. */
export async function attackStream({ snapshot, sealed, specimen }: Case): Promise<string | undefined> {
  const split = Math.max(0, snapshot.length - TRAILER);
  const database = snapshot.subarray(0, split);
  // If no checksum was corrected, etcd announces the original and sends other bytes.
  const announced = sealed ? database.length : specimen.snapshot.length - TRAILER;
  const remaining = announced - Math.min(MESSAGE, database.length);
  await using etcd = await fakeEtcd({ database, trailer: snapshot.subarray(split), remaining });
  const channel = await GrpcChannel.connect(etcd.endpoint, { dialTimeout: 5_000 });
  try {
    const stream = await openSnapshot(channel, { idleTimeout: 5_000 });
    for await (const _ of stream.body);
    return sealed && stream.sums().sha256 === sha256(snapshot) ? undefined : 'it was taken for a whole stream';
  } catch (error) {
    const refused = error instanceof AgentError && [10, 30].includes(error.exitCode);
    return refused && (!sealed || database.length === 0) ? undefined : `${error}`;
  } finally {
    channel.close();
  }
}

/** Message of `verify --level open` if only HashKV reveals the damage. */
export function openDeceived({ deceived }: Case, scratch: string): Promise<Proof | AgentError> {
  const { manifest, stored } = deceived;
  return inStore(manifest, stored, scratch, async (store, directory) => {
    try {
      const options = { level: 'open', scratch: directory, etcdutl: new Etcdutl(etcdutl()) } as const;
      return await verifySnapshot(store, manifest, options);
    } catch (error) {
      if (error instanceof AgentError) return error;
      throw error;
    }
  });
}

async function inStore<T>(
  manifest: SnapshotManifest,
  stored: Buffer,
  scratch: string,
  work: (store: FilesystemStore, directory: string) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(scratch, 'attack-'));
  try {
    const path = join(directory, 'store');
    const file = join(path, manifest.object.key);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, stored);
    return await work(new FilesystemStore({ path }), directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function outcome(work: Promise<unknown>): Promise<ExitCode | string> {
  try {
    await work;
    return 'accepted';
  } catch (error) {
    return error instanceof AgentError ? error.exitCode : `${error}`;
  }
}

async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
