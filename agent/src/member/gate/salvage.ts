import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, cp, mkdir, open, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GrpcChannel, GrpcStatus } from '../../etcd/grpc.ts';
import { status } from '../../etcd/maintenance.ts';
import { walDirectory } from '../../etcd/offline/wal.ts';
import { type WalState, walState } from '../../etcd/offline/wal-state.ts';
import { openSnapshot } from '../../etcd/snapshot-stream.ts';
import type { TlsMaterial } from '../../etcd/tls.ts';
import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import type { AgentStatus, Identity } from '../../protocol/agent-status.ts';
import { minorOf } from '../../protocol/versions.ts';
import type { MemberConfig } from '../member-config.ts';
import type { AtStep } from '../steps.ts';
import { etcdDirOf } from '../volume.ts';
import type { RootCertificate } from './root-certificate.ts';

export type Salvage = Omit<NonNullable<AgentStatus['salvage']>, 'url' | 'permitId'>;
type Saved = Pick<Salvage, 'sha256' | 'sizeBytes' | 'revision'>;

interface SalvageOptions {
  readonly signal: AbortSignal;
  readonly at: AtStep;
}

export const salvageFile = ({ scratchDir }: MemberConfig): string => join(scratchDir, 'salvage.db');
const copyOf = ({ scratchDir }: MemberConfig): string => join(scratchDir, 'copy');

export async function emptyScratch(config: MemberConfig): Promise<void> {
  await rm(copyOf(config), { recursive: true, force: true });
  await rm(salvageFile(config), { force: true });
}

/**
 * Takes a snapshot of a survivor's data without a quorum. Starts etcd on a copy of the data, as a cluster of its own that
 * other members cannot reach, and then deletes the copy. The original data are only read. Entries that the member did not
 * know to be committed are not in the snapshot: at most `lastIndex - commit`. The caller makes sure that etcd does not run.
 */
export async function salvage(
  config: MemberConfig,
  identity: Identity,
  { signal, at }: SalvageOptions,
): Promise<Salvage> {
  const etcdDir = etcdDirOf(config.dataDir);
  const log = await readLog(etcdDir);
  const program = await programFor(identity, config);
  const copy = copyOf(config);
  await emptyScratch(config);
  await mkdir(config.scratchDir, { recursive: true, mode: 0o700 });
  try {
    await cp(etcdDir, copy, { recursive: true });
    await at('salvage.copied');
    const saved = await saveCopy({ config, program, dataDir: copy, signal });
    await at('salvage.made');
    return { ...saved, lastIndex: log.lastIndex, commit: log.commit };
  } finally {
    await rm(copy, { recursive: true, force: true }).catch(() => {});
  }
}

async function readLog(etcdDir: string): Promise<WalState> {
  const unusable = (why: string, cause?: unknown) =>
    new AgentError(ExitCode.refused, `${why}, so nothing can be recovered from this member; restore a backup`, {
      cause,
    });
  const log = await walState(etcdDir).catch((error) => {
    throw unusable(`the write-ahead log cannot be read (${messageOf(error)})`, error);
  });
  if (!log) throw unusable(`no write-ahead log can be read in ${walDirectory(etcdDir)}`);
  return log;
}

/** The etcd of the minor version that wrote the data. Only images for members contain it. */
async function programFor({ lastVersion }: Identity, { etcdDir }: MemberConfig): Promise<string> {
  const minor = minorOf(lastVersion);
  const program = join(etcdDir, minor, 'etcd');
  await access(program, constants.X_OK).catch((error) => {
    throw new AgentError(
      ExitCode.refused,
      `the gate's image contains no etcd ${minor} (${program}), so it cannot salvage the data of this member; set agentImage of the EtcdCluster to an image that does, or leave it out, or restore a backup`,
      { cause: error },
    );
  });
  return program;
}

async function saveCopy(copy: Omit<Lone, 'root'>): Promise<Saved> {
  const save = async (root?: RootCertificate) => {
    await using etcd = await LoneEtcd.start({ ...copy, root });
    return await etcd.save(salvageFile(copy.config));
  };
  return save().catch(async (error) => {
    if (!isDenied(error)) throw error;
    const { makeRootCertificate } = await import('./root-certificate.ts');
    return save(await makeRootCertificate(copy.dataDir));
  });
}

interface Lone {
  readonly config: MemberConfig;
  readonly program: string;
  readonly dataDir: string;
  /** If authentication is enabled in the data. */
  readonly root: RootCertificate | undefined;
  readonly signal: AbortSignal;
}

/** A single-member etcd on the loopback interface. */
class LoneEtcd implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #channel: GrpcChannel;
  readonly #signal: AbortSignal;
  readonly #idleTimeout: number;

  private constructor(process: ChildProcess, channel: GrpcChannel, idleTimeout: number, signal: AbortSignal) {
    this.#process = process;
    this.#channel = channel;
    this.#idleTimeout = idleTimeout;
    this.#signal = signal;
  }

  static async start({ config, program, dataDir, root, signal }: Lone): Promise<LoneEtcd> {
    const [clientPort, peerPort] = await freePorts(2);
    const client = `${root ? 'https' : 'http'}://127.0.0.1:${clientPort}`;
    const peer = `http://127.0.0.1:${peerPort}`;
    const child = spawn(
      program,
      [
        ...['--name', config.pod, '--data-dir', dataDir, '--force-new-cluster', '--logger', 'zap'],
        ...['--listen-client-urls', client, '--advertise-client-urls', client],
        ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
        ...['--initial-cluster', `${config.pod}=${peer}`],
        ...(root?.flags ?? []),
      ],
      { stdio: ['ignore', 'ignore', 'pipe'], env: {} },
    );
    const end = ended(child, program);
    try {
      const channel = await Promise.race([
        serving(client, { tls: root?.tls, dialTimeout: config.idleTimeout, signal }),
        end,
      ]);
      return new LoneEtcd(child, channel, config.idleTimeout, signal);
    } catch (error) {
      await stop(child);
      throw error;
    } finally {
      end.catch(() => {});
    }
  }

  async save(file: string): Promise<Saved> {
    const { revision } = await status(this.#channel, { signal: this.#signal, deadline: this.#idleTimeout });
    const stream = await openSnapshot(this.#channel, { signal: this.#signal, idleTimeout: this.#idleTimeout });
    const handle = await open(file, 'w', 0o600);
    try {
      await handle.writeFile(stream.body);
    } finally {
      await handle.close();
    }
    const { sha256, sizeBytes } = stream.sums();
    return { sha256, sizeBytes, revision };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#channel.close();
    await stop(this.#process);
  }
}

/** Resolves when etcd is its own leader and has applied its whole log, which can take long. */
async function serving(url: string, access: Access): Promise<GrpcChannel> {
  const { signal } = access;
  while (true) {
    signal.throwIfAborted();
    const channel = await leading(url, access);
    if (channel) return channel;
    await sleep(200, undefined, { signal });
  }
}

interface Access {
  readonly tls: TlsMaterial | undefined;
  readonly dialTimeout: number;
  readonly signal: AbortSignal;
}

async function leading(url: string, { tls, dialTimeout, signal }: Access): Promise<GrpcChannel | undefined> {
  let channel: GrpcChannel | undefined;
  try {
    channel = await GrpcChannel.connect(url, { tls, dialTimeout, signal });
    const { leader, raftIndex, raftAppliedIndex } = await status(channel, { signal, deadline: dialTimeout });
    if (leader !== '0' && raftAppliedIndex >= raftIndex) return channel;
  } catch (error) {
    signal.throwIfAborted();
    if (isDenied(error)) {
      channel?.close();
      throw error;
    }
  }
  channel?.close();
  return undefined;
}

/** The error's own message names flags of `backup` instead of etcd's words. */
const isDenied = (error: unknown): boolean =>
  error instanceof AgentError &&
  error.cause instanceof GrpcStatus &&
  /user name is empty|permission denied/.test(error.cause.message);

/** Rejects when the process exits or cannot be started, with its last line of output. */
function ended(child: ChildProcess, program: string): Promise<never> {
  let last = '';
  child.stderr?.on('data', (chunk) => {
    last = `${last}${chunk}`.slice(-4000);
  });
  return new Promise((_, reject) => {
    const failed = (why: string) => reject(new AgentError(ExitCode.verificationFailed, `${program}: ${why}`));
    child.once('error', (error) => failed(messageOf(error)));
    child.once('exit', (code, name) => failed(`exited (${code ?? name}) on the copy: ${lastLine(last)}`));
  });
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.slice(-300) ?? '';

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}
