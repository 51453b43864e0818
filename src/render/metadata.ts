import { protection } from '../lib/gitops';
import type { Document } from './documents';

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

/** Returns the user's labels. The labels of a resource that was rendered before are left out: they are added again. */
export function metadataLabels(document: Document): Record<string, string> | undefined {
  const { metadata } = document;
  metadata.ignore(...written);
  annotationsLost(document);
  const labels = metadata.map('labels') ?? {};
  const isRendered = labels['app.kubernetes.io/managed-by'] === 'cdk8s';
  const own = Object.entries(labels).filter(([name]) => !(isRendered && name.startsWith('app.kubernetes.io/')));
  return own.length > 0 ? Object.fromEntries(own) : undefined;
}

function annotationsLost({ metadata, report }: Document): void {
  const names = Object.entries(metadata.map('annotations') ?? {})
    .filter(([name, value]) => name !== lastApplied && protection[name] !== value)
    .map(([name]) => name);
  if (names.length > 0)
    report.lost('metadata.annotations', `${names.join(', ')}: add them after rendering if you need them`);
}
