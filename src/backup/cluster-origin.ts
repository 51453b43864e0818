import { propProblems, withFound } from '../resource/prop-problems';
import { fieldProblems } from '../resource/resource-problems';
import type { EtcdClusterSpec } from '../resource/types';
import { type INamed, nameOf } from '../validation/named';
import { type BackupResources, givenResources } from './backup-resources';
import { jobIdentityProblems, jobPropNames } from './job-identity';
import type { RestoreSource } from './restore-source';

/** Selects the backup whose data a new cluster starts with. */
export interface ClusterOrigin {
  /** Selects the snapshot to restore. */
  readonly source: RestoreSource;
  /**
   * Names a Secret in the same namespace whose files are age identities. An encrypted snapshot requires it.
   * @default - the snapshot is not encrypted
   */
  readonly identitySecret?: string | INamed;
  /**
   * Refuses a snapshot whose content, decrypted and decompressed, does not have this SHA-256: 64 lower-case hex digits.
   * @default - the SHA-256 in the backup's manifest
   */
  readonly sha256?: string;
  /**
   * Refuses a snapshot that has another revision.
   * @default - any revision
   */
  readonly expectedRevision?: number;
  /**
   * Names the ServiceAccount of the Job that fetches the snapshot, for a store with workload identity. It needs the
   * annotations of that identity, and no permissions in Kubernetes.
   * @default - a ServiceAccount without an identity
   */
  readonly serviceAccountName?: string | INamed;
  /**
   * Sets the image of the Job that fetches the snapshot. `BackupStore.command` requires it.
   * @default - the agent's image
   */
  readonly image?: string;
  /**
   * Sets the CPU and memory of the Job that fetches the snapshot. It opens the database.
   * @default - 100m CPU and 128Mi memory as request, 1 CPU and 1Gi memory as limit, or more if the backup schedule of the cluster has more
   */
  readonly resources?: BackupResources;
}

/** The fields that EtcdCluster's `origin` and EtcdRestore share. */
export type OriginSpec = NonNullable<EtcdClusterSpec['origin']>;

export function originSpec(origin: ClusterOrigin): OriginSpec {
  const { source, resources, sha256, expectedRevision, image } = origin;
  const identitySecret = nameOf(origin.identitySecret);
  const serviceAccountName = nameOf(origin.serviceAccountName);
  return {
    source: source._spec(),
    ...{ identitySecret, sha256, expectedRevision, serviceAccountName, image },
    resources: givenResources(resources),
  };
}

/** Problems with the origin of a cluster. */
export function originProblems(origin: ClusterOrigin): string[] {
  const annotations = Object.keys(origin.source._store()?.serviceAccountAnnotations ?? {});
  const problems = restoreProblems(origin);
  if (annotations.length > 0 && origin.serviceAccountName === undefined) {
    problems.push(
      'serviceAccountName: is missing; give a ServiceAccount with the annotations of the workload identity',
    );
  }
  return problems;
}

/** Problems with the snapshot of a restore. */
export function restoreProblems(origin: ClusterOrigin): string[] {
  const spec = originSpec(origin);
  const own = [...origin.source._problems(), ...jobIdentityProblems(spec.image, spec.source.store)];
  return withFound(own, propProblems(fieldProblems('EtcdCluster', 'spec.origin', spec), jobPropNames));
}
