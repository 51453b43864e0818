import { resourceProblems } from '../../resource/resource-problems';
import type { Kind } from '../../resource/schema';
import type { Document } from '../documents';
import type { Api, PlannedRestore } from '../plan';
import { ownBackup } from './backup';
import { ownCluster } from './cluster';
import { jobOptions } from './job';
import { ownOrigin } from './origin';
import { ownReconciler } from './reconciler';
import { ownSchedule } from './schedule';
import { ownUser } from './user';

/** The custom resources of this project. */
export const own: Api = {
  apiVersion: 'cdk8s-etcd.dev/v1alpha1',
  kinds: {
    EtcdCluster: ownCluster,
    EtcdBackup: ownBackup,
    EtcdRestore: ownRestore,
    EtcdUser: ownUser,
    EtcdBackupSchedule: ownSchedule,
    EtcdReconciler: ownReconciler,
  },
  // Here an EtcdCluster may lack the names of Secrets, which the API server requires.
  problems: ({ kind, resource: { spec = {}, metadata } }) =>
    kind === 'EtcdCluster' ? [] : resourceProblems(kind as Kind, spec, metadata),
  unknownField: (report, path, remedy) => report.error(path, `is not a field; ${remedy}`),
};

export function ownRestore(document: Document): PlannedRestore | undefined {
  const { spec } = document;
  const clusterName = spec.required('clusterName');
  const origin = ownOrigin(spec);
  const more = {
    ...jobOptions(document),
    safetyBackup: spec.boolean('safetyBackup'),
    ignoreUnreachablePods: spec.boolean('ignoreUnreachablePods'),
    again: spec.text('again'),
  };
  if (!origin || clusterName === '') return undefined;
  return { becomes: 'restore', document, clusterName, origin, ...more, old: false };
}
