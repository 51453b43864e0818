import { revisionOf } from '../../backup/catalog/manifest.ts';
import { whole } from '../../backup/catalog/select.ts';
import { storeStatus } from '../../backup/check/store-status.ts';
import { clusterLabels } from '../../backup/metrics/samples.ts';
import { observeCluster } from '../../backup/take/source/observe-cluster.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { type Sample, samples } from '../../lib/metrics/sample.ts';
import type { StoreSpec } from '../../store/spec.ts';
import type { Store } from '../../store/store.ts';
import type { CommandContext } from '../cli/command.ts';
import type { OpenedStore } from '../shared/opened-store.ts';
import { openedStore, openTargets } from '../shared/store-run.ts';
import type { EtcdFound, StoreFound } from './exported.ts';

/** Reads a store as `status` does. Throws if something cannot be read that may be newer than what was. */
export async function readStore(spec: StoreSpec, context: CommandContext): Promise<StoreFound> {
  const { store } = openTargets([spec], context)[0]!;
  try {
    return await found(store, spec, context);
  } finally {
    store.close();
  }
}

async function found(store: Store, spec: StoreSpec, context: CommandContext): Promise<StoreFound> {
  const opened = await openedStore(store, spec, context);
  const { unread, metrics, id } = await storeStatus({ ...opened, maxAge: undefined });
  if (unread) throw new AgentError(ExitCode.storeUnreachable, `${store.url}: ${unread}`);
  const newest = id === undefined ? [] : await newestSamples(opened, id);
  return { samples: [...metrics, ...newest] };
}

/** What only the whole manifest says. */
async function newestSamples(opened: OpenedStore, id: string): Promise<Sample[]> {
  const { store } = opened;
  const { manifest } = await whole(opened.folder, id);
  const labels = { ...clusterLabels(opened), store: store.url };
  const { seconds } = manifest.timing;
  const isAdopted = manifest.source.clusterId === 'unknown';
  return [
    ...samples('etcd_backup_last_verified_revision', labels, revisionOf(manifest)),
    // Another tool took an adopted snapshot: only its adoption was timed.
    ...samples('etcd_backup_last_snapshot_duration_seconds', labels, isAdopted ? undefined : seconds),
  ];
}

/** Returns the highest revision that a member reports. Throws if none of the endpoints answers. */
export async function readEtcd({ settings, log, signal }: CommandContext): Promise<EtcdFound> {
  // A member that is down is the business of others, at each read.
  const quiet = log.child({}, { level: 'error' });
  using cluster = await observeCluster(await settings.access(), quiet, signal);
  return { revision: Math.max(...cluster.members.map(({ status }) => status.revision)) };
}
