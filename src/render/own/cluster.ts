import { etcdImages } from '../../etcd/etcd-image';
import { EtcdVersion } from '../../etcd/etcd-version';
import { resourceProblems } from '../../resource/resource-problems';
import type { EtcdClusterSpec } from '../../resource/types';
import { withDefaultNames } from '../../tls/default-names';
import { tlsTimeProblems } from '../../tls/tls-times';
import { isObject } from '../../validation/plain-object';
import type { Document } from '../documents';
import { metadataLabels } from '../metadata';
import type { PlannedCluster } from '../plan';
import { labelsLost, withoutNull } from './whole';

/** Reads an EtcdCluster, of which the names of its Secrets may be missing. */
export function ownCluster(document: Document): PlannedCluster | undefined {
  const { name, target, report } = document;
  const labels = metadataLabels(document);
  // A key without a value would mean no TLS, which nobody wants who begins to write it.
  if (document.spec.whole().tls === null)
    report.error('spec.tls', 'is empty: write tls: { managed: {} }, or remove it for plain http');
  const spec = specOf(document);
  notes(document, spec);
  // A name that is missing is reported already.
  const problems = resourceProblems('EtcdCluster', spec, { name: name || 'name' });
  for (const { path, message } of problems) report.error(path, message);
  if (problems.length > 0) return undefined;
  for (const problem of spec.tls ? tlsTimeProblems(spec.tls) : []) report.error('', problem);
  for (const problem of etcdImages({ ...spec, version: EtcdVersion.of(spec.version) }).problems)
    report.error('', problem);
  if (target === undefined && (spec.tls?.certManager ?? spec.tls?.alsoTrust?.certManager))
    report.error(
      'metadata.namespace',
      'is missing, but the certificates contain its name: add it, or give --namespace',
    );
  labelsLost(document, labels, spec.labels);
  return { becomes: 'cluster', document, spec, schedules: [] };
}

function specOf({ spec: fields }: Document): EtcdClusterSpec {
  const { maintenance, ...spec } = withoutNull(fields.whole()) as unknown as EtcdClusterSpec;
  // They are requests of a moment, not part of what the cluster is.
  const { defragment, moveLeader, ...maintains } = isObject(maintenance) ? maintenance : {};
  return {
    ...spec,
    ...(maintenance !== undefined && { maintenance: isObject(maintenance) ? maintains : maintenance }),
  };
}

function notes({ name, report }: Document, { tls }: EtcdClusterSpec): void {
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
