import type { ClusterSpec, RestoreRequest } from '../../src/controllers/port/observed.ts';
import type { ClusterStatus } from '../../src/protocol/cluster-status.ts';
import type { KeyPair, TlsFiles } from '../harness/certificates.ts';
import type { FileStore, Stored } from './store.ts';

/** Content of the files that replace the API server. */

export interface ClusterObject {
  name: string;
  namespace: string;
  generation: number;
  finalizer: boolean;
  deleting: boolean;
  skipFinalBackup: boolean;
  spec: ClusterSpec;
  status: Partial<ClusterStatus>;
}

/** The part of a pod template that matters here. */
export interface Template {
  version: string;
  /** Version in etcd's image if it is not `version`: the tag does not show it. */
  image?: string;
  /**
   * etcd's settings by canonical key. In a real cluster a mounted file, whose hash is in the template's annotations.
   */
  settings: Record<string, unknown>;
  /** Value of the annotation; 0 = none. */
  epoch: number;
  /** The annotation with the roots to load. */
  roots?: string;
  /** Its pods mount certificates. */
  tls?: boolean;
}

export interface StatefulSetObject {
  replicas: number;
  template: Template;
}

export interface PodObject {
  ordinal: number;
  template: Template;
  running: boolean;
  ready: boolean;
  deleting: boolean;
  /** Uid of the claim; undefined with ephemeral volumes. */
  claim?: string;
}

export interface ClaimObject {
  ordinal: number;
  deleting: boolean;
  clusterUid?: string;
  epoch?: number;
}

export type RestoreObject = Omit<RestoreRequest, 'uid'> & { report?: { reason: string; message: string } };

/** Ports of a pod on loopback: each ordinal keeps its own. */
export interface Ports {
  peer: number;
  client: number;
  metrics: number;
  agent: number;
}

/** State that the processes of a cluster share, in `world.json`. */
export interface WorldFile {
  name: string;
  namespace: string;
  ports: Ports[];
  tls?: TlsFiles;
  users?: UsersFile;
}

/** Certificates for etcd with authentication. `tls.client` is then of the user `client`. */
export interface UsersFile {
  root: KeyPair;
  backup: KeyPair;
  /** Backup port of each ordinal. */
  ports: number[];
}

/** TLS files of the reconciler, and of a test that looks at everything. */
export const rootTlsOf = ({ tls, users }: WorldFile): TlsFiles | undefined =>
  tls && { ...tls, client: users?.root ?? tls.client };

/** TLS files of a backup. */
export const backupTlsOf = ({ tls, users }: WorldFile): TlsFiles | undefined =>
  tls && { ...tls, client: users?.backup ?? tls.client };

export const clusterOf = (store: FileStore): Stored<ClusterObject> | undefined => store.read('cluster');
export const statefulSetOf = (store: FileStore): Stored<StatefulSetObject> | undefined => store.read('stateful-set');
export const podOf = (store: FileStore, ordinal: number): Stored<PodObject> | undefined =>
  store.read(`pods/${ordinal}`);
export const podsOf = (store: FileStore): Stored<PodObject>[] => store.list('pods');
export const claimOf = (store: FileStore, ordinal: number): Stored<ClaimObject> | undefined =>
  store.read(`claims/${ordinal}`);
