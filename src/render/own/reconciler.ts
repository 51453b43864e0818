import type { EtcdReconcilerSpec } from '../../resource/types';
import type { Document } from '../documents';
import { metadataLabels } from '../metadata';
import type { PlannedReconciler } from '../plan';
import { labelsLost, withoutNull } from './whole';

/** Reads an EtcdReconciler, which its schema has checked. */
export function ownReconciler(document: Document): PlannedReconciler {
  const spec = withoutNull(document.spec.whole()) as EtcdReconcilerSpec;
  labelsLost(document, metadataLabels(document), spec.labels);
  return { becomes: 'reconciler', document, spec };
}
