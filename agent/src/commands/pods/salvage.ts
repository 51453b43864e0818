import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { suspectBy } from '../../backup/catalog/manifest.ts';
import { type RestoredSnapshot, tryRestore } from '../../backup/payload/inspect.ts';
import { scratchDirectory } from '../../backup/payload/scratch-directory.ts';
import { fetchSource, type SnapshotSource } from '../../backup/restore/fetch-source.ts';
import type { BackupOutcome, Origin, RunContext, StoreRequest } from '../../backup/take/request.ts';
import { takeSnapshot } from '../../backup/take/take.ts';
import { alarmsIn } from '../../etcd/offline/database-check.ts';
import { SnapshotCheck, type SnapshotStream, type SnapshotSums } from '../../etcd/snapshot-stream.ts';
import { loadPeerTls, loadTls, mergeTls, type TlsMaterial } from '../../etcd/tls.ts';
import { AgentError, ExitCode, usageError } from '../../lib/errors.ts';
import { withTimeout } from '../../lib/limits/budget.ts';
import { refuseStoresInContainer } from '../../store/container-path.ts';
import type { Command, CommandContext } from '../cli/command.ts';
import type { Settings } from '../cli/settings.ts';
import { backupResult } from '../shared/backup-result.ts';
import { storeRequest } from '../shared/store-request.ts';
import { openTargets } from '../shared/store-run.ts';
import { warnSwitches } from '../shared/warn-switches.ts';

export const run: Command = async (context) => {
  const { settings } = context;
  const source = sourceOf(process.env);
  const specs = settings.stores();
  await refuseStoresInContainer('store', specs);
  const clusterId = settings.clusterId() ?? 'unknown';
  return withTimeout(
    context,
    async (within) => {
      const request = await storeRequest(settings);
      // No retention here: it runs again when the cluster is back.
      const targets = openTargets(specs, within).map(({ store }) => ({ store }));
      try {
        return backupResult(await salvage({ ...request, targets }, { ...source, clusterId }, within));
      } finally {
        for (const { store } of targets) store.close();
      }
    },
    specs.length,
  );
};

/**
 * Address and token of the gate's copy. Read from the environment, because a command line must not contain secrets. With TLS
 * there is no token.
 */
function sourceOf(env: NodeJS.ProcessEnv): SnapshotSource {
  const read = (name: string, pattern: RegExp, what: string) => {
    const value = env[name] ?? '';
    if (!pattern.test(value)) throw usageError(`${name}: this environment variable must be ${what}`);
    return value;
  };
  const url = read('ETCD_AGENT_SOURCE_URL', /^https?:\/\/[^\s@]+$/, "the URL of the gate's /salvage");
  return {
    url,
    token: read('ETCD_AGENT_SOURCE_TOKEN', url.startsWith('https:') ? /^\S*$/ : /^\S+$/, 'its token'),
    sha256: read('ETCD_AGENT_SOURCE_SHA256', /^[0-9a-f]{64}$/, 'the SHA-256 of the snapshot, 64 hex digits'),
  };
}

interface Salvaged extends SnapshotSource {
  /** Neither the gate nor the file contains this id. */
  readonly clusterId: string;
}

async function salvage(
  request: StoreRequest,
  source: Salvaged,
  context: CommandContext & RunContext,
): Promise<BackupOutcome> {
  const { settings, progress, signal } = context;
  await using directory = await scratchDirectory(request.scratch);
  const file = join(directory.path, 'snapshot.db');
  return await takeSnapshot(request, context, async () => {
    progress.phase('fetch', source.url);
    const sums = await fetchSource(source, file, {
      signal,
      tls: await tlsOf(settings),
      serverName: settings.text('serverName'),
      idleTimeout: settings.duration('idleTimeout', '--idle-timeout') ?? 60_000,
      onBytes: (bytes, expected) => {
        context.budget.grow(expected * (4 + request.targets.length));
        progress.bytes(bytes, expected);
      },
    });
    progress.phase('try', 'opening the snapshot');
    const { etcdutl } = request;
    const status = await tryRestore(source.url, file, join(directory.path, 'data'), { etcdutl, signal });
    warnSwitches('the salvaged snapshot', status, context.log);
    return originOf(source, status, sums, file);
  });
}

/** TLS files for the gate. It uses etcd's server certificate, whose authority may differ from that of the members. */
const tlsOf = async (settings: Settings): Promise<TlsMaterial | undefined> =>
  mergeTls(await loadPeerTls(settings.text('peerTlsDir')), await loadTls({ cacert: settings.text('cacert') }));

function originOf({ url, clusterId }: Salvaged, status: RestoredSnapshot, sums: SnapshotSums, file: string): Origin {
  const alarms = alarmsIn(status);
  const suspect = suspectBy(alarms);
  return {
    source: {
      ...{ clusterId, endpoint: new URL(url).origin, role: 'survivor', alarms },
      suspect: suspect.length > 0 ? suspect : undefined,
    },
    comparison: 'a survivor is not compared with other members',
    revision: status.revision,
    open: async () => streamOf(file, sums, status.storageVersion),
    [Symbol.dispose]: () => {},
  };
}

/** Reads the file again, and throws if its content has changed. */
function streamOf(file: string, sums: SnapshotSums, storageVersion: string | undefined): SnapshotStream {
  const check = new SnapshotCheck(sums.sizeBytes, file);
  const body = async function* () {
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
      check.add(chunk);
      yield chunk;
    }
    if (check.finish().sha256 !== sums.sha256) {
      throw new AgentError(ExitCode.verificationFailed, `${file} changed after it was fetched`);
    }
  };
  return { expectedBytes: sums.sizeBytes, storageVersion, body: body(), sums: () => check.finish() };
}
