import type { EtcdClusterSpec } from '../../resource/types';
import { withDefaultNames } from '../../tls/default-names';
import { isObject } from '../../validation/plain-object';
import type { Document } from '../documents';

type Values = Readonly<Record<string, unknown>>;

/** They are requests of a moment, not part of what the cluster is. */
export function withoutRequests(spec: Values): Values {
  if (!isObject(spec.maintenance)) return spec;
  const { maintenance, ...rest } = spec;
  const { defragment, moveLeader, ...stays } = maintenance as Values;
  return Object.keys(stays).length > 0 ? { ...rest, maintenance: stays } : rest;
}

/** What is worth knowing of an EtcdCluster, of which the names of its Secrets may be missing. */
export function clusterNotes({ name, target, report }: Document, given: Values, { tls }: EtcdClusterSpec): void {
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
