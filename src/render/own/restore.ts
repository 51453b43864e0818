import type { Document } from '../documents';
import { metadataLabels } from '../metadata';
import type { PlannedRestore } from '../plan';
import { ownOrigin } from './origin';

export function ownRestore(document: Document): PlannedRestore | undefined {
  const { spec } = document;
  const labels = metadataLabels(document);
  const clusterName = spec.required('clusterName');
  const origin = ownOrigin(spec);
  const more = {
    safetyBackup: spec.boolean('safetyBackup'),
    ignoreUnreachablePods: spec.boolean('ignoreUnreachablePods'),
  };
  if (!origin || clusterName === '') return undefined;
  return { becomes: 'restore', document, labels, clusterName, origin, ...more, old: false };
}
