import { randomBytes } from 'node:crypto';
import { type DataDirRequest, restoreDataDir } from '../backup/restore.ts';
import { refuseNewer } from '../backup/server-version.ts';
import type { Command, CommandContext } from '../command.ts';
import { AgentError, ExitCode } from '../errors.ts';
import { Etcdutl } from '../etcd/etcdutl.ts';
import type { CommandResult } from '../result.ts';
import { withTimeout } from '../run-limit.ts';
import type { Settings } from '../settings.ts';
import { bumpFlag } from './bump-flag.ts';
import { noteRestore } from './note-restore.ts';
import { askedFor, withStore } from './store-run.ts';

const mistake = (message: string) => new AgentError(ExitCode.usage, message);

export const run: Command = (context) => withTimeout(context, (signal, grow) => restore({ ...context, signal }, grow));

async function restore(context: CommandContext, grow: (bytes: number) => void): Promise<CommandResult> {
  const { settings, progress, signal } = context;
  const request = parseRequest(settings);
  const identities = await settings.identities();
  return withStore(context, async (opened) => {
    const { store } = opened;
    const { id, manifest } = await askedFor(opened, context, grow);
    const { storageVersion, version } = manifest.source;
    refuseNewer(id, storageVersion ?? version, settings.text('serverVersion'));
    const etcdutl = new Etcdutl(settings.text('etcdutl') ?? 'etcdutl');
    grow(2 * manifest.content.sizeBytes);
    progress.phase('restore', id);
    const onBytes = (bytes: number) => progress.bytes(bytes, manifest.object.sizeBytes);
    const result = await restoreDataDir(store, manifest, request, etcdutl, { signal, identities, onBytes });
    const { movedAside, alreadyRestored, clusterId, memberId } = result;
    if (clusterId) await noteRestore(opened, id, clusterId, context);
    return {
      exitCode: 0,
      text: alreadyRestored
        ? `${request.dataDir}: was restored from ${id} before; nothing done`
        : `${request.dataDir}: restored from ${id}, cluster ${clusterId}, member ${memberId}${movedAside ? `; what was there is now ${movedAside}` : ''}`,
      data: { store: store.url, id, dataDir: request.dataDir, ...result },
    };
  });
}

function parseRequest(settings: Settings): DataDirRequest {
  const name = settings.required('name', '--name', "the member's name");
  const peerUrls = settings.required(
    'initialAdvertisePeerUrls',
    '--initial-advertise-peer-urls',
    "this member's peer URLs",
  );
  const initialCluster = settings.text('initialCluster') ?? `${name}=${peerUrls}`;
  const members = new Set(initialCluster.split(',').map((member) => member.split('=')[0]));
  if (!members.has(name)) throw mistake(`--initial-cluster: the member '${name}' is not in it`);
  const token = settings.text('initialClusterToken');
  // The same token and members give the same cluster id, over whatever data: so it has to be a new one, and the same for all.
  const fresh = `restored-${randomBytes(8).toString('hex')}`;
  if (!token && members.size > 1) {
    throw mistake(
      `--initial-cluster-token: all ${members.size} members need the same new token, for instance ${fresh}`,
    );
  }
  return {
    dataDir: settings.required('dataDir', '--data-dir', "name the member's data directory"),
    name,
    initialCluster,
    initialAdvertisePeerUrls: peerUrls,
    initialClusterToken: token ?? fresh,
    bumpRevision: bumpFlag(settings) ?? 0,
  };
}
