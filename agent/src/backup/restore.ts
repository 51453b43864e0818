import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { AgentError, codeOf, ExitCode } from '../errors.ts';
import { isInUse } from '../etcd/data-dir.ts';
import { type Etcdutl, reasonOf } from '../etcd/etcdutl.ts';
import { walIdentity } from '../etcd/wal.ts';
import { sync } from '../store/directories.ts';
import type { Store } from '../store/store.ts';
import type { Manifest } from './manifest.ts';
import type { ReadOptions } from './read-payload.ts';
import { writeContent } from './verify.ts';

const MARKER = 'etcd-agent-restore.json';

/** Writes the verified, plain snapshot to a file that does not exist yet. */
export async function fetchSnapshot(
  store: Store,
  manifest: Manifest,
  file: string,
  options: ReadOptions,
): Promise<void> {
  if (await stat(file).catch(() => undefined)) {
    throw new AgentError(ExitCode.refused, `--to: ${file} exists; name another file or move it away`);
  }
  const partial = `${file}.partial`;
  try {
    await mkdir(dirname(resolve(file)), { recursive: true });
    await rm(partial, { force: true });
    await writeContent(store, manifest, partial, { ...options, durable: true });
    await rename(partial, file);
    await sync(dirname(resolve(file)));
  } catch (error) {
    await rm(partial, { force: true }).catch(() => {});
    throw asMistake('--to', file, error);
  }
}

export interface DataDirRequest {
  readonly dataDir: string;
  readonly name: string;
  readonly initialCluster: string;
  readonly initialAdvertisePeerUrls: string;
  readonly initialClusterToken: string;
  /** 0: none. */
  readonly bumpRevision: number;
}

export interface DataDirResult {
  readonly clusterId?: string;
  readonly memberId?: string;
  /** Where the directory that was there before lies now. */
  readonly movedAside?: string;
  /** It was restored from this snapshot before, and nothing was done. */
  readonly alreadyRestored: boolean;
}

/**
 * Makes one member's data directory out of a snapshot: beside the old one first, which is then moved aside, never
 * deleted. A marker inside says that it was done, so that an init container may run this at every start.
 */
export async function restoreDataDir(
  store: Store,
  manifest: Manifest,
  request: DataDirRequest,
  etcdutl: Etcdutl,
  options: ReadOptions,
): Promise<DataDirResult> {
  const dataDir = resolve(request.dataDir);
  const partial = `${dataDir}.partial`;
  const marker = await readMarker(dataDir);
  if (marker?.id === manifest.id) {
    // That run may have been killed before it had tidied up.
    await rm(partial, { recursive: true, force: true }).catch(() => {});
    return { ...(await walIdentity(dataDir)), alreadyRestored: true };
  }
  if (await isInUse(dataDir)) {
    throw new AgentError(ExitCode.refused, `--data-dir: a running etcd uses ${dataDir}; stop it first`);
  }
  const fresh = join(partial, 'data');
  try {
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { recursive: true, mode: 0o700 });
    const file = join(partial, 'snapshot.db');
    await writeContent(store, manifest, file, options);
    await runRestore(etcdutl, file, fresh, request, manifest.id, options.signal);
    const identity = await walIdentity(fresh);
    await writeFile(
      join(fresh, MARKER),
      `${JSON.stringify({ id: manifest.id, ...identity, at: new Date().toISOString() })}\n`,
      { flush: true },
    );
    options.signal?.throwIfAborted();
    const movedAside = await moveAside(dataDir);
    await rename(fresh, dataDir);
    await sync(dirname(dataDir));
    return { ...identity, movedAside, alreadyRestored: false };
  } catch (error) {
    options.signal?.throwIfAborted();
    throw asMistake('--data-dir', dataDir, error);
  } finally {
    await rm(partial, { recursive: true, force: true }).catch(() => {});
  }
}

async function runRestore(
  etcdutl: Etcdutl,
  file: string,
  into: string,
  request: DataDirRequest,
  id: string,
  signal?: AbortSignal,
): Promise<void> {
  const { bumpRevision } = request;
  const result = await etcdutl.run(
    [
      // The trailer has just been compared while the file was written.
      ...['snapshot', 'restore', file, '--skip-hash-check', '--data-dir', into, '--name', request.name],
      ...['--initial-cluster', request.initialCluster],
      ...['--initial-advertise-peer-urls', request.initialAdvertisePeerUrls],
      ...['--initial-cluster-token', request.initialClusterToken],
      // Watchers that kept an old revision then see "compacted" instead of silence.
      ...(bumpRevision > 0 ? ['--bump-revision', String(bumpRevision), '--mark-compacted'] : []),
    ],
    { signal },
  );
  if (result.exitCode === 0) return;
  const reason = reasonOf(result);
  const mistake = /initial.cluster|peer.url|advertise|couldn't find local name|unknown flag/i.test(reason);
  throw new AgentError(
    mistake ? ExitCode.usage : ExitCode.verificationFailed,
    `${id}: etcdutl refused to restore it: ${reason}`,
  );
}

async function readMarker(dataDir: string): Promise<{ id?: string } | undefined> {
  try {
    return JSON.parse(await readFile(join(dataDir, MARKER), 'utf8'));
  } catch {
    return undefined;
  }
}

async function moveAside(dataDir: string): Promise<string | undefined> {
  const entries = await readdir(dataDir).catch(() => undefined);
  if (!entries) return undefined;
  const stamp = new Date()
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, '')
    .replace('T', '-')
    .replace('Z', '');
  for (let attempt = 0; ; attempt++) {
    const aside = `${dataDir}.replaced-${stamp}${attempt ? `-${attempt}` : ''}`;
    if (await stat(aside).catch(() => undefined)) continue;
    await rename(dataDir, aside);
    return aside;
  }
}

function asMistake(flag: string, path: string, error: unknown): unknown {
  const code = codeOf(error);
  if (error instanceof AgentError || !code) return error;
  const remedy = code === 'EBUSY' ? 'it is a mount point; name a directory below it' : code;
  return new AgentError(ExitCode.usage, `${flag}: cannot write ${path} (${remedy})`, { cause: error });
}
