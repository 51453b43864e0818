import { storable } from '../../overrides/strategic-merge';
import { type Kind, type Schema, schemaOf } from '../../resource/schema';
import type { EtcdBackupScheduleSpec, EtcdClusterSpec } from '../../resource/types';
import { withDefaultNames } from '../../tls/default-names';
import { isObject } from '../../validation/plain-object';
import type { Document } from '../documents';
import { annotationsLost, intoSpec, labelsLost, metadataLabels } from '../metadata';
import type { Api, Planned } from '../plan';

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

/** They are requests of a moment, not part of what the cluster is. */
function withoutRequests(spec: Values): Values {
  if (!isObject(spec.maintenance)) return spec;
  const { maintenance, ...rest } = spec;
  const { defragment, moveLeader, ...stays } = maintenance as Values;
  return Object.keys(stays).length > 0 ? { ...rest, maintenance: stays } : rest;
}

/** What is worth knowing of an EtcdCluster, of which the names of its Secrets may be missing. */
function clusterNotes({ name, target, report }: Document, given: Values, { tls }: EtcdClusterSpec): void {
  // A key without a value would mean no TLS, which nobody wants who begins to write it.
  if (given.tls === null) report.error('spec.tls', 'is empty: write tls: { managed: {} }, or remove it for plain http');
  if (target === undefined && (tls?.certManager ?? tls?.alsoTrust?.certManager))
    report.error(
      'metadata.namespace',
      'is missing, but the certificates contain its name: add it, or give --namespace',
    );
  if (tls === undefined) {
    report.note(
      'spec.tls',
      'is missing, so clients and members use plain http; add tls: { managed: {} } for certificates that the reconciler issues',
    );
  } else if (isObject(tls) && !tls.managed && !tls.certManager) {
    const { peerSecret, serverSecret } = withDefaultNames(name, tls);
    report.note(
      'spec.tls',
      `the members read their certificates from the Secrets ${peerSecret} and ${serverSecret}, which you must create`,
    );
  }
}
