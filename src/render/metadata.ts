import { protection } from '../lib/gitops';
import { labelOf } from '../lib/labels';
import { isObject } from '../validation/plain-object';
import type { Document } from './documents';

type Labels = Readonly<Record<string, string>>;

/** Fields that the API server and kubectl write. */
const written = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
  'ownerReferences',
  'finalizers',
  'generateName',
  'clusterName',
];

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

const domain = 'app.kubernetes.io/';
const names: Labels = { EtcdBackup: 'etcd-backup', EtcdRestore: 'etcd-restore', EtcdUser: 'etcd-user' };

/** Returns the user's labels. Those by which pods are selected are added again, so other values of them are reported. */
export function metadataLabels(
  { metadata, kind, name, report }: Document,
  cluster: unknown = name,
): Labels | undefined {
  metadata.ignore(...written);
  const labels = metadata.map('labels') ?? {};
  const added: Readonly<Record<string, unknown>> = {
    [`${domain}name`]: names[kind] ?? 'etcd',
    [`${domain}instance`]: labelOf(name),
    [`${domain}component`]: undefined,
    [`${domain}part-of`]: cluster,
  };
  const lost = Object.keys(labels).filter((label) => Object.hasOwn(added, label) && labels[label] !== added[label]);
  if (lost.length > 0) report.lost('metadata.labels', `${lost.join(', ')}: cannot be chosen; use labels of your own`);
  const own = Object.entries(labels).filter(
    ([label, value]) => !Object.hasOwn(added, label) && !(label === `${domain}managed-by` && value === 'cdk8s'),
  );
  return own.length > 0 ? Object.fromEntries(own) : undefined;
}

/** What to do with metadata of a resource whose spec gives all its objects some. */
export const intoSpec = (what: 'labels' | 'annotations'): string =>
  `write them into spec.${what}, which all objects get`;

/** Reports the labels of a resource that are not in its spec, whose labels its objects get. */
export function labelsLost({ report }: Document, labels: Labels = {}, inSpec?: unknown): void {
  const lost = Object.keys(labels).filter((label) => !(isObject(inSpec) && Object.hasOwn(inSpec, label)));
  if (lost.length > 0) report.lost('metadata.labels', `${lost.join(', ')}: ${intoSpec('labels')}`);
}

/** Reports the annotations that are neither in the spec, whose annotations its objects get, nor of tools that write them again. */
export function annotationsLost(
  { metadata, report }: Document,
  inSpec?: unknown,
  remedy = 'add them after rendering if you need them',
): void {
  const names = Object.entries(metadata.map('annotations') ?? {})
    .filter(
      ([name, value]) =>
        name !== lastApplied && protection[name] !== value && !(isObject(inSpec) && inSpec[name] === value),
    )
    .map(([name]) => name);
  if (names.length > 0) report.lost('metadata.annotations', `${names.join(', ')}: ${remedy}`);
}
