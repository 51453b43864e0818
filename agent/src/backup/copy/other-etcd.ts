import type { Entry } from '../catalog/catalog.ts';
import { folderOf, type NamedCluster } from '../catalog/identity/folder.ts';
import { otherEtcdAmong } from '../take/same-etcd.ts';

interface Folders {
  readonly chosen: readonly Entry[];
  readonly there: readonly Entry[];
  /** Reads every snapshot of the source: one that is not copied may connect the two etcds. */
  readonly readAll: () => Promise<readonly Entry[]>;
}

/** Returns a warning if the target's folder has snapshots of an etcd that no restore connects with those that are copied. */
export async function otherEtcdWarning(
  { chosen, there, readAll }: Folders,
  named: NamedCluster,
): Promise<string | undefined> {
  const ids = [...new Set(chosen.flatMap(({ manifest }) => manifest?.source.clusterId ?? []))];
  const find = (known: readonly Entry[]) => otherEtcdAmong(there, named, ids, [...there, ...known]);
  const other = find(chosen) && find(await readAll());
  if (!other?.manifest) return undefined;
  const { clusterId } = other.manifest.source;
  const own = ids.filter((id) => id !== 'unknown').join(', ');
  return `${folderOf(named)} has snapshots of another etcd (cluster id ${clusterId}, newest ${other.id}), and those that are copied have the cluster id ${own}`;
}
