import type { Kind } from '../resource/schema';
import type {
  EtcdBackupScheduleSpec,
  EtcdBackupSpec,
  EtcdClusterSpec,
  EtcdReconcilerSpec,
  EtcdRestoreSpec,
  EtcdUserSpec,
} from '../resource/types';
import type { Document } from './documents';
import type { DocumentReport } from './report';

/** The resource of ours that a document is, or becomes. */
export type Planned =
  | PlannedCluster
  | PlannedSchedule
  | PlannedRestore
  | PlannedBackup
  | PlannedResource<'EtcdUser', EtcdUserSpec>
  | PlannedResource<'EtcdReconciler', EtcdReconcilerSpec>;

export interface PlannedResource<K extends Kind, Spec> {
  readonly kind: K;
  readonly name: string;
  readonly document: Document;
  /** Only of a kind whose spec has no labels. */
  readonly labels?: { readonly [name: string]: string };
  readonly spec: Spec;
}

export interface PlannedCluster extends PlannedResource<'EtcdCluster', EtcdClusterSpec> {
  /** The cluster of another operator that this one replaces; undefined for our own resources. */
  readonly old?: OldCluster;
  /** Where each of its schedules is written. Default: in its own document, which is a resource of ours. */
  readonly schedules?: readonly DocumentPlace[];
}

export interface DocumentPlace {
  readonly document: Document;
  /** Undefined: the document is about nothing else. */
  readonly path?: string;
}

/** A cluster that another operator runs and that a new cluster replaces. */
export interface OldCluster {
  /** Returns true for an endpoint of the old cluster. */
  isEndpoint(endpoint: string): boolean;
}

export interface PlannedSchedule extends PlannedResource<'EtcdBackupSchedule', EtcdBackupScheduleSpec> {
  /** Of another operator's document: where it has the endpoints. */
  readonly endpointsField?: string;
}

export type PlannedBackup = PlannedResource<'EtcdBackup', EtcdBackupSpec>;

export interface PlannedRestore extends PlannedResource<'EtcdRestore', EtcdRestoreSpec> {
  /** True for another operator's restore, which recreates its cluster. */
  readonly old?: boolean;
}

/** An API whose objects can be rendered. */
export interface Api {
  readonly apiVersion: string;
  readonly kinds: { readonly [kind: string]: (document: Document) => Planned | undefined };
  /** Returns the field of a document, from that of the resource that it becomes. */
  fieldOf(path: string, document: Document): string;
  /** Reports a field that has no meaning. */
  unknownField(report: DocumentReport, path: string, remedy: string): void;
}
