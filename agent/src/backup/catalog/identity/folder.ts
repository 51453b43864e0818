import { usageError } from '../../../lib/errors.ts';
import type { Misplaced } from '../../../lib/finding.ts';
import { isValidKey } from '../keys.ts';

const CLUSTER = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Identifies the owner of snapshots. Clusters of the same name in two namespaces are two clusters. */
export interface NamedCluster {
  readonly cluster: string;
  readonly namespace?: string | undefined;
}

/** Returns the folder of a cluster in a store. Every key of a snapshot begins with it. */
export const folderOf = ({ cluster, namespace }: NamedCluster): string =>
  namespace === undefined ? cluster : `${namespace}/${cluster}`;

export const isCluster = (text: string): boolean => CLUSTER.test(text);
export const isNamespace = (text: string): boolean => NAMESPACE.test(text);

/** Checks the names of a cluster and of its namespace, which become keys. */
export function namedCluster(cluster: string | undefined, namespace: string | undefined): NamedCluster {
  if (!cluster) throw usageError('name the cluster that the snapshots belong to', { at: 'cluster' });
  if (!isCluster(cluster)) {
    throw usageError(
      `'${cluster}' is not a cluster name; use at most 63 letters, digits, '-', '_' or '.', beginning and ending with a letter or digit`,
      { at: 'cluster' },
    );
  }
  if (!namespace) return { cluster };
  if (!isNamespace(namespace)) {
    throw usageError(
      `'${namespace}' is not a namespace; use at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit`,
      { at: 'namespace' },
    );
  }
  return { cluster, namespace };
}

/** What a manifest says of its place. */
interface Placed {
  readonly object: { readonly key: string };
  readonly cluster: { readonly name: string; readonly namespace?: string | undefined };
}

/**
 * Compares the folder in which a manifest lies with the cluster that it names. Names that no flag accepts say nothing: the
 * manifest may be forged, and what is found becomes a part of a command.
 */
export function misplacedManifest(
  folder: string,
  { object, cluster: { name: cluster, namespace } }: Placed,
): Misplaced | undefined {
  const own = folderOf({ cluster, namespace });
  if (!isCluster(cluster) || !(namespace === undefined || isNamespace(namespace))) return undefined;
  if (folder !== '' && !isValidKey(folder)) return undefined;
  // A snapshot under an exact key lies wherever the user wants it.
  if (!object.key.startsWith(`${own}/`)) return undefined;
  const common = { folder, cluster, namespace };
  if (folder.endsWith(`/${own}`)) return { ...common, below: folder.slice(0, -own.length - 1) };
  if (folder === '') return { ...common, above: own };
  return own.endsWith(`/${folder}`) ? { ...common, above: own.slice(0, -folder.length - 1) } : undefined;
}
