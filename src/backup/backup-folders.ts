import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { appState, isAttached } from '../lib/construct-tree';

/** A folder of a store in which a construct of the app stores backups. */
export interface BackupFolder {
  /** Property of the construct that holds the store. */
  readonly property: string;
  /** Identifies the store: two stores with the same text are the same place. */
  readonly place: string;
  /** Name of the cluster. */
  readonly cluster: string;
  /** Endpoints of the etcd cluster. Two lists that share an endpoint belong to the same etcd cluster. */
  readonly endpoints: readonly string[];
  /** Retention of a schedule as text; undefined for a backup that is taken once. */
  readonly retention?: string;
}

interface Deposit extends BackupFolder {
  readonly construct: Construct;
}

/** Records the folder in which a construct stores backups. */
export function addBackupFolder(construct: Construct, folder: BackupFolder): void {
  const folders = foldersOf(construct);
  const key = keyOf(construct, folder);
  const deposits = folders.get(key);
  if (deposits) deposits.push({ ...folder, construct });
  else folders.set(key, [{ ...folder, construct }]);
}

/**
 * Problem if another construct stores backups in the same folder, either of another etcd cluster, whose data a restore
 * could pick, or of the same one with another retention, which would delete what this one keeps.
 */
export function sharedFolderProblems(construct: Construct, folder: BackupFolder): string[] {
  const deposits = (foldersOf(construct).get(keyOf(construct, folder)) ?? []).filter((each) =>
    isAttached(each.construct),
  );
  const own = deposits.findIndex((each) => each.construct === construct);
  // Only the later one of two constructs reports the problem.
  for (const other of deposits.slice(0, own)) {
    const problem = conflict(folder, other, pathOf(construct, folder));
    if (problem) return [`${folder.property}: ${problem}`];
  }
  return [];
}

function conflict(folder: BackupFolder, other: Deposit, path: string): string | undefined {
  const { node } = other.construct;
  if (!isSameEtcd(folder, other)) {
    return `${path} is where ${node.path} stores the backups of another etcd cluster, so a restore could use the wrong data; give one of the two another cluster name, or its store a folder of its own (if both are the same etcd cluster, give them a common endpoint)`;
  }
  if (!folder.retention || !other.retention || folder.retention === other.retention) return undefined;
  return `${path} is where ${node.path} stores the backups of the same etcd cluster with another retention, so each would delete what the other keeps; give both the same retention, or give one of the stores a folder of its own`;
}

const isSameEtcd = (a: BackupFolder, b: BackupFolder): boolean => {
  const addresses = new Set(a.endpoints.map(addressOf));
  return b.endpoints.some((endpoint) => addresses.has(addressOf(endpoint)));
};

const addressOf = (endpoint: string): string => endpoint.toLowerCase().replace(/^https?:\/\/|\/$/g, '');

function pathOf(construct: Construct, { place, cluster }: BackupFolder): string {
  return `${place}/${Chart.of(construct).namespace ?? 'NAMESPACE'}/${cluster}`;
}

function foldersOf(construct: Construct): Map<string, Deposit[]> {
  return appState(construct, 'folders.v1', () => new Map());
}

/** Charts without a namespace are kept apart: they may be applied to different namespaces. */
function keyOf(construct: Construct, { place, cluster }: BackupFolder): string {
  const { namespace, node } = Chart.of(construct);
  return JSON.stringify([namespace === undefined ? { chart: node.path } : { namespace }, place, cluster]);
}
