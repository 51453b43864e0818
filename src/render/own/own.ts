import { storable } from '../../overrides/strategic-merge';
import { type Kind, type Schema, schemaOf } from '../../resource/schema';
import type { EtcdBackupScheduleSpec, EtcdClusterSpec } from '../../resource/types';
import { isObject } from '../../validation/plain-object';
import type { Document } from '../documents';
import { annotationsLost, intoSpec, labelsLost, metadataLabels } from '../metadata';
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
  const spec = withoutNull(given, schemaOf(kind).properties!.spec!) as Values;
  const found = { kind, name: document.name, document, spec: kind === 'EtcdCluster' ? withoutRequests(spec) : spec };
  const labels = metadataLabels(document, spec.clusterName);
  // A user has those of its cluster.
  if (kind === 'EtcdUser') document.metadata.ignore('annotations');
  if (kind === 'EtcdCluster') clusterNotes(document, given, spec as unknown as EtcdClusterSpec);
  if (kind === 'EtcdBackupSchedule') scheduleNotes(document, spec as unknown as EtcdBackupScheduleSpec);
  if (kind === 'EtcdBackup' || kind === 'EtcdRestore') annotationsLost(document, spec.annotations);
  if (kind === 'EtcdBackup' || kind === 'EtcdRestore' || kind === 'EtcdUser') return { ...found, labels } as Planned;
  annotationsLost(document, spec.annotations, intoSpec('annotations'));
  labelsLost(document, labels, spec.labels);
  return found as unknown as Planned;
}

/** Go programs write null for a field that is not there. In an override, it deletes. Elsewhere it stays, and is refused. */
function withoutNull(value: unknown, { items = {}, properties = {}, additionalProperties }: Schema): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutNull(each, items));
  if (!isObject(value)) return value;
  const isAny = additionalProperties === undefined || additionalProperties === true;
  const others = isObject(additionalProperties) ? (additionalProperties as Schema) : {};
  const isField = (key: string) => Object.hasOwn(properties, key);
  const schemaOfField = (key: string) => (isField(key) ? properties[key]! : others);
  const entries = Object.entries(value).filter(([key, each]) => each !== null || !(isAny || isField(key)));
  const clean = (key: string, each: unknown) => {
    if (key === 'overrides') return storable(each);
    return key === 'settings' ? each : withoutNull(each, schemaOfField(key));
  };
  return Object.fromEntries(entries.map(([key, each]) => [key, clean(key, each)]));
}

function scheduleNotes({ target, report }: Document, { controlPlane }: EtcdBackupScheduleSpec): void {
  if (!controlPlane || target !== undefined) return;
  report.error(
    'metadata.namespace',
    'is missing, but the backup of a control plane needs a namespace of its own: add it, or give --namespace',
  );
}
