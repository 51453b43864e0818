import type { EtcdBackupScheduleSpec } from '../../resource/types';
import type { Document } from '../documents';
import { metadataLabels } from '../metadata';
import type { PlannedOwnSchedule } from '../plan';
import { authOf, tlsOf } from './backup';
import { labelsLost, withoutNull } from './whole';

/** Reads an EtcdBackupSchedule, which its schema has checked. */
export function ownSchedule(document: Document): PlannedOwnSchedule {
  const { target, report } = document;
  const etcd = document.spec.object('etcd');
  const auth = etcd?.object('auth');
  const found = { tls: tlsOf(etcd?.object('tls')), auth: auth && authOf(auth) };
  etcd?.whole();
  const spec = withoutNull(document.spec.whole()) as unknown as EtcdBackupScheduleSpec;
  labelsLost(document, metadataLabels(document), spec.labels);
  if (spec.controlPlane && target === undefined)
    report.error(
      'metadata.namespace',
      'is missing, but the backup of a control plane needs a namespace of its own: add it, or give --namespace',
    );
  return { becomes: 'own schedule', document, spec, ...found };
}
