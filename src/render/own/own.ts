import { storable } from '../../overrides/strategic-merge';
import type { Kind } from '../../resource/schema';
import type { EtcdBackupScheduleSpec, EtcdClusterSpec } from '../../resource/types';
import { isObject } from '../../validation/plain-object';
import type { Document } from '../documents';
import { annotationsLost, labelsLost, metadataLabels } from '../metadata';
import type { Api, Planned } from '../plan';
import { clusterNotes, withoutRequests } from './cluster';

const kinds: readonly Kind[] = [
  'EtcdCluster',
  'EtcdBackup',
  'EtcdRestore',
  'EtcdUser',
  'EtcdBackupSchedule',
  'EtcdReconciler',
];

/** The custom resources of this project. */
export const own: Api = {
  apiVersion: 'cdk8s-etcd.dev/v1alpha1',
  kinds: Object.fromEntries(kinds.map((kind) => [kind, (document: Document) => ownResource(kind, document)])),
  fieldOf: (path) => path,
  unknownField: (report, path, remedy) => report.error(path, `is not a field; ${remedy}`),
};

type Values = Readonly<Record<string, unknown>>;

/** Takes the spec as it is: its schema is checked afterwards. */
function ownResource(kind: Kind, document: Document): Planned {
  const given = document.spec.whole();
  const spec = withoutNull(given) as Values;
  const found = { kind, name: document.name, document, spec: kind === 'EtcdCluster' ? withoutRequests(spec) : spec };
  const labels = metadataLabels(document, spec.clusterName);
  annotationsLost(document, spec.annotations);
  if (kind === 'EtcdCluster') clusterNotes(document, given, spec as unknown as EtcdClusterSpec);
  if (kind === 'EtcdBackupSchedule') scheduleNotes(document, spec as unknown as EtcdBackupScheduleSpec);
  if (kind === 'EtcdBackup' || kind === 'EtcdRestore' || kind === 'EtcdUser') return { ...found, labels } as Planned;
  labelsLost(document, labels, spec.labels);
  return found as unknown as Planned;
}

/** Go programs write null for what is not there. In an override, it deletes. */
function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNull);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(
    entries.map(([key, each]) => [key, key === 'overrides' ? storable(each) : withoutNull(each)]),
  );
}

function scheduleNotes({ target, report }: Document, { controlPlane }: EtcdBackupScheduleSpec): void {
  if (!controlPlane || target !== undefined) return;
  report.error(
    'metadata.namespace',
    'is missing, but the backup of a control plane needs a namespace of its own: add it, or give --namespace',
  );
}
