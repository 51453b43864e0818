import type { ClusterSpec, RestoreRequest } from '../../src/controllers/cluster/observed.ts';
import type { ClusterStatus } from '../../src/protocol/cluster-status.ts';
import type { TlsFiles } from '../harness/certificates.ts';
import type { FileStore, Stored } from './store.ts';

/** What is in the files of the stand-in for the API server. */

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
  /** What etcd's image holds, where that is not `version`: no tag tells it. */
  image?: string;
  /** etcd's settings by canonical key; a mounted file, here as its hash is in the template's annotations. */
  settings: Record<string, unknown>;
  /** The annotation; 0 = none. */
  epoch: number;
  /** The annotation with the roots to load. */
  roots?: string;
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
  /** Its uid; none with ephemeral volumes. */
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

/** What the processes of a cluster share, in `world.json`. */
export interface WorldFile {
  name: string;
  namespace: string;
  ports: Ports[];
  tls?: TlsFiles;
}

export const clusterOf = (store: FileStore): Stored<ClusterObject> | undefined => store.read('cluster');
export const statefulSetOf = (store: FileStore): Stored<StatefulSetObject> | undefined => store.read('stateful-set');
export const podOf = (store: FileStore, ordinal: number): Stored<PodObject> | undefined =>
  store.read(`pods/${ordinal}`);
export const podsOf = (store: FileStore): Stored<PodObject>[] => store.list('pods');
export const claimOf = (store: FileStore, ordinal: number): Stored<ClaimObject> | undefined =>
  store.read(`claims/${ordinal}`);
