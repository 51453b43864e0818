import { type Entry, isLost, readCatalog } from '../backup/catalog/catalog.ts';
import { Folder } from '../backup/catalog/folder.ts';
import { folderOf } from '../backup/catalog/identity/folder.ts';
import { isOf } from '../backup/catalog/identity/identity.ts';
import { listFolders, refuseMissing, type StoreFolder } from '../backup/catalog/identity/locate.ts';
import { ExitCode } from '../lib/errors.ts';
import { table } from '../lib/terminal/table.ts';
import { timeAt } from '../store/clock.ts';
import { openStore } from '../store/open.ts';
import { budgetOf, type Store } from '../store/store.ts';
import { type Elsewhere, noClusterHint } from './advice/elsewhere.ts';
import type { CommandContext } from './cli/command.ts';
import type { CommandResult } from './cli/result.ts';

/** Lists the clusters of a store: `list` without `--cluster`. */
export async function listClusters({ settings, signal, budget }: CommandContext): Promise<CommandResult> {
  const spec = settings.store();
  const store = await openStore(spec, budget);
  const namespace = settings.text('namespace');
  const isAsked = (folder: StoreFolder) => namespace === undefined || (folder.namespace ?? '') === namespace;
  try {
    await refuseMissing(store, { signal });
    const folders = (await listFolders(store, { signal })).filter(isAsked);
    const clusters: Cluster[] = [];
    for (const folder of folders) clusters.push(await describe(folder, store, signal));
    const found = clusters.filter(({ snapshots, incomplete }) => snapshots + incomplete > 0);
    const none = { text: '', isFound: false };
    return result(found, store.url, found.length > 0 ? none : await noClusterHint(store, spec, signal));
  } finally {
    store.close();
  }
}

interface Cluster {
  readonly namespace?: string | undefined;
  readonly cluster: string;
  readonly clusterIds: readonly string[];
  /** Number of snapshots that are complete, verified or not. */
  readonly snapshots: number;
  /** Number of snapshots that are broken, cannot be read, or have no manifest. */
  readonly incomplete: number;
  readonly newest?: { readonly id: string; readonly createdAt: string };
}

async function describe(folder: StoreFolder, store: Store, signal: AbortSignal): Promise<Cluster> {
  const { cluster, namespace } = folder;
  const within = new Folder(store, folderOf(folder), signal);
  const listing = await within.list();
  const until = budgetOf(store).answers();
  const entries = (await readCatalog(within, { listing, until })).filter(
    (entry) => !entry.manifest || isOf(folder, entry),
  );
  const without = listing.withoutManifest(await timeAt(store, { signal }));
  const whole = entries.filter(({ problem }) => !problem);
  return {
    namespace,
    cluster,
    clusterIds: [...new Set(whole.map(({ manifest }) => manifest!.source.clusterId))],
    snapshots: whole.length,
    incomplete: entries.length - whole.length + without.filter(isLost).length,
    ...newestOf(whole),
  };
}

function newestOf([entry]: readonly Entry[]): Pick<Cluster, 'newest'> {
  return entry?.manifest ? { newest: { id: entry.id, createdAt: entry.manifest.createdAt } } : {};
}

function result(clusters: readonly Cluster[], url: string, elsewhere: Elsewhere): CommandResult {
  const sorted = clusters.toSorted((a, b) => folderOf(a).localeCompare(folderOf(b)));
  const rows = sorted.map(({ namespace, cluster, clusterIds, snapshots, incomplete, newest }) => [
    namespace ?? '-',
    cluster,
    clusterIds.join(', ') || '-',
    String(snapshots),
    String(incomplete),
    newest ? `${newest.createdAt} ${newest.id}` : '-',
  ]);
  return {
    exitCode: elsewhere.isFound ? ExitCode.nothingThere : ExitCode.done,
    text:
      rows.length === 0
        ? `no snapshots in ${url}${elsewhere.text}`
        : table(['NAMESPACE', 'CLUSTER', 'CLUSTER IDS', 'SNAPSHOTS', 'INCOMPLETE', 'NEWEST'], rows),
    data: { store: url, clusters: sorted },
  };
}
