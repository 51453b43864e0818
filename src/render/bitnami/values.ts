import { isObject } from '../../validation/plain-object';
import type { Document } from '../documents';
import { type OldFields, oldField } from '../older-operators';
import type { Api } from '../plan';
import { bitnamiCluster } from './cluster';
import { unequal } from './unequal';

/** Values that only a chart of etcd has, or the part of an application's values that is for its etcd. */
const telling = ['replicaCount', 'persistence', 'auth', 'disasterRecovery', 'startFromSnapshot', 'autoCompactionMode'];

const fields: OldFields = [
  [/^spec[.]name$/, 'fullnameOverride'],
  [/^spec[.](size|allowEvenSize)/, 'replicaCount'],
  [/^spec[.](image|version|imagePull)/, 'image'],
  [/^spec[.]storage/, 'persistence'],
  [/^spec[.]tuning[.]autoCompaction.*/, 'autoCompactionRetention'],
  [/^spec[.]backup.*[.]cron/, 'disasterRecovery.cronjob.schedule'],
  [/^spec[.]backup.*[.]filesystem.*/, 'disasterRecovery.pvc.existingClaim'],
  [/^spec[.]backup.*/, 'disasterRecovery'],
  [/^spec[.](labels|annotations)/, 'common$1'],
  [/^spec[.](settings|tuning|containers|quota).*/, 'extraEnvVars'],
];

/** The values of Bitnami's chart `etcd`, which have neither apiVersion nor kind. */
export const bitnami: Api = {
  apiVersion: "Bitnami's chart etcd",
  kinds: { Values: bitnamiCluster },
  fieldOf: (path, { spec }) => spec.at(oldField(fields, path)),
  unknownField(report, path, remedy) {
    const why = unequal[path.replace(/^etcd[.]/, '').split('.')[0]!];
    report.lost(path, why ?? `is not read here; ${remedy}`);
  },
};

/** Gives the values of the chart, alone or below `etcd` in those of an application, what a document has. */
export function asValues(document: Document, namespace: string | undefined): Document {
  const { apiVersion, kind, top, report } = document;
  if (apiVersion !== '' || kind !== '') return document;
  const isOwn = tells(top.keys);
  const values = isOwn ? top : (isChart(top.peek('etcd')) && top.object('etcd')) || undefined;
  if (!values) return document;
  // Those of the application, which are no matter of its etcd.
  if (!isOwn) top.ignore(...top.keys);
  const name = values.text('fullnameOverride') ?? values.text('nameOverride') ?? 'etcd';
  const own = values.text('namespaceOverride');
  const common = { report, top, metadata: document.metadata, spec: values };
  return { ...common, apiVersion: bitnami.apiVersion, kind: 'Values', name, namespace: own, target: namespace ?? own };
}

const tells = (keys: readonly string[]): boolean => keys.some((key) => telling.includes(key));

const isChart = (value: unknown): boolean => isObject(value) && tells(Object.keys(value));
