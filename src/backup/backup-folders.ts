import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { appState } from '../lib/app-state';
import { isAttached } from '../lib/attached';

/** Backups that an app's construct puts into a store. */
export interface BackupFolder {
  /** The property that names the store. */
  readonly property: string;
  /** The same for two stores that are the same place. */
  readonly place: string;
  /** The name of the cluster. */
  readonly cluster: string;
  /** Of the etcd: one in common makes two lists those of one etcd. */
  readonly endpoints: readonly string[];
  /** What a schedule keeps there, as text. A backup that is taken once has no say in that. */
  readonly retention?: string;
}

interface Deposit extends BackupFolder {
  readonly construct: Construct;
}

/** Notes where a construct puts backups. */
export function addBackupFolder(construct: Construct, folder: BackupFolder): void {
  const folders = foldersOf(construct);
  const key = keyOf(construct, folder);
  const deposits = folders.get(key);
  if (deposits) deposits.push({ ...folder, construct });
  else folders.set(key, [{ ...folder, construct }]);
}

/**
 * Says so when a folder also has the backups of another etcd, whose data a restore could take, or of the same etcd with
 * another retention, which deletes what this one keeps.
 */
export function sharedFolderProblems(construct: Construct, folder: BackupFolder): string[] {
  const deposits = (foldersOf(construct).get(keyOf(construct, folder)) ?? []).filter((each) =>
    isAttached(each.construct),
  );
  const own = deposits.findIndex((each) => each.construct === construct);
  // The later one of two says it.
  for (const other of deposits.slice(0, own)) {
    const problem = conflict(folder, other, pathOf(construct, folder));
    if (problem) return [`${folder.property}: ${problem}`];
  }
  return [];
}

function conflict(folder: BackupFolder, other: Deposit, path: string): string | undefined {
  const { node } = other.construct;
  if (!isSameEtcd(folder, other)) {
    return `${path} is where ${node.path} stores the backups of another etcd, and a restore could take its data; give one of the two another cluster name, or its store a folder of its own (if both are one etcd, give them an endpoint in common)`;
  }
  if (!folder.retention || !other.retention || folder.retention === other.retention) return undefined;
  return `${path} is where ${node.path} stores the backups of the same etcd with another retention, and each would delete what the other keeps; give both the same retention, or one of the stores a folder of its own`;
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

/** Charts without a namespace may be meant for different ones. */
function keyOf(construct: Construct, { place, cluster }: BackupFolder): string {
  const { namespace, node } = Chart.of(construct);
  return JSON.stringify([namespace === undefined ? { chart: node.path } : { namespace }, place, cluster]);
}
