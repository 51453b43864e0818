import { type Expected, type PlainSnapshot, plainSnapshot } from '../backup/plain-snapshot.ts';
import { scratchDirectory } from '../backup/scratch.ts';
import { aborted, SnapshotServer } from '../backup/snapshot-server.ts';
import type { Command, CommandContext } from '../command.ts';
import { AgentError, ExitCode, messageOf } from '../errors.ts';
import { Etcdutl } from '../etcd/etcdutl.ts';
import { loadPeerTls } from '../etcd/tls.ts';
import { parseListen } from '../listen-address.ts';
import { formatBytes } from '../progress.ts';
import type { CommandResult } from '../result.ts';
import { withTimeout } from '../run-limit.ts';
import type { Settings } from '../settings.ts';
import { askedFor, withStore } from './store-run.ts';

const mistake = (message: string) => new AgentError(ExitCode.usage, message);

export const run: Command = async (context) => {
  const { settings, log, progress, signal } = context;
  const expected = expectedOf(settings);
  const peerTlsDir = settings.text('peerTlsDir');
  // A server with a bad certificate would only be silent.
  await loadPeerTls(peerTlsDir);
  await using server = await SnapshotServer.listen({
    listen: parseListen(settings.text('listen') ?? '0.0.0.0:8080'),
    tokenSha256: tokenSha256Of(settings),
    ...(peerTlsDir !== undefined && { peerTlsDir }),
    log,
  });
  await using scratch = await scratchDirectory(settings.scratch);
  const snapshot = await verified(context, scratch.path, expected);
  const { file: _, ...result } = snapshot;
  server.serve(snapshot);
  progress.phase('serve', snapshot.id);
  log.info({ port: server.port, ...result }, 'serving the snapshot');
  await aborted(signal);
  return stopped(result, signal.reason);
};

const verified = (context: CommandContext, directory: string, expected: Expected): Promise<PlainSnapshot> =>
  withTimeout(context, async (signal, grow) => {
    const { settings, progress } = context;
    const identities = await settings.identities();
    return withStore({ ...context, signal }, async (opened) => {
      const { id, manifest } = await askedFor(opened, { ...context, signal }, grow);
      grow(4 * manifest.content.sizeBytes);
      return plainSnapshot(opened.store, manifest, directory, expected, {
        signal,
        identities,
        etcdutl: new Etcdutl(settings.text('etcdutl') ?? 'etcdutl'),
        onPhase: (phase) => progress.phase(phase, id),
        onBytes: (bytes) => progress.bytes(bytes, manifest.object.sizeBytes),
      });
    });
  });

/** Not 0: the Job is not complete when its pod is told to go, and has to make another. */
function stopped(result: Omit<PlainSnapshot, 'file'>, reason: unknown): CommandResult {
  const text = `${messageOf(reason)}, after it served ${result.id}, ${formatBytes(result.sizeBytes)}`;
  const exitCode = reason instanceof AgentError ? reason.exitCode : ExitCode.terminated;
  return { exitCode, text, data: { error: text, snapshot: result } };
}

function expectedOf(settings: Settings): Expected {
  const sha256 = settings.text('sha256')?.toLowerCase();
  if (sha256 !== undefined && !isSha256(sha256)) throw mistake('--sha256: must be 64 hex digits');
  const revision = settings.text('expectedRevision');
  if (revision !== undefined && !/^[1-9]\d{0,15}$/.test(revision)) {
    throw mistake('--expected-revision: must be a whole number of at least 1');
  }
  const serverVersion = settings.text('serverVersion');
  return {
    ...(sha256 !== undefined && { sha256 }),
    ...(revision !== undefined && { revision: Number(revision) }),
    ...(serverVersion !== undefined && { serverVersion }),
  };
}

function tokenSha256Of(settings: Settings): string {
  const given = settings
    .required('tokenSha256', '--token-sha256', 'give the SHA-256 of the token, in hex')
    .toLowerCase();
  if (!isSha256(given)) throw mistake('--token-sha256: must be 64 hex digits');
  return given;
}

const isSha256 = (text: string) => /^[0-9a-f]{64}$/.test(text);
