import { nameProblem, problemsOf } from '../validation/names';
import { type JobIdentity, jobIdentityProblems } from './job-identity';
import type { RestoreSource, RestoreSourceSpec } from './restore-source';

/** The backup that a new cluster begins with. */
export interface ClusterOrigin {
  /** Which snapshot. */
  readonly source: RestoreSource;
  /**
   * A Secret of the namespace whose files are age identities, for an encrypted snapshot.
   * @default - the snapshot is not encrypted
   */
  readonly identitySecret?: string;
  /**
   * The SHA-256 that the plain snapshot must have, as 64 hex digits.
   * @default - any: the backup's manifest says which
   */
  readonly sha256?: string;
  /**
   * The revision that the snapshot must have.
   * @default - any
   */
  readonly expectedRevision?: number;
  /**
   * The ServiceAccount of the Job that fetches the snapshot, for a store with workload identity. It needs the annotations
   * that the identity asks for, and no right in Kubernetes.
   * @default - one without an identity
   */
  readonly serviceAccountName?: string;
  /**
   * The image of the Job that fetches the snapshot, for `BackupStore.command`.
   * @default - the agent's
   */
  readonly image?: string;
}

/** The fields of the custom resources. */
export interface OriginSpec extends JobIdentity {
  readonly source: RestoreSourceSpec;
  readonly identitySecret?: string;
  readonly sha256?: string;
  readonly expectedRevision?: number;
}

export function originSpec(origin: ClusterOrigin): OriginSpec {
  const { source, identitySecret, sha256, expectedRevision, serviceAccountName, image } = origin;
  return { source: source._spec(), identitySecret, sha256, expectedRevision, serviceAccountName, image };
}

/** What is wrong with the origin of a cluster. */
export function originProblems(origin: ClusterOrigin): string[] {
  const annotations = Object.keys(origin.source._store()?.serviceAccountAnnotations ?? {});
  const problems = restoreProblems(origin);
  if (annotations.length > 0 && origin.serviceAccountName === undefined) {
    problems.push(
      'serviceAccountName: none given; name a ServiceAccount with the annotations of the workload identity',
    );
  }
  return problems;
}

/** What is wrong with a snapshot that is to be restored. */
export function restoreProblems(origin: ClusterOrigin): string[] {
  const { source, identitySecret, sha256, expectedRevision } = origin;
  return [
    ...source._problems(),
    ...problemsOf(
      identitySecret === undefined ? undefined : nameProblem('identitySecret', identitySecret),
      sha256 === undefined || /^[0-9a-f]{64}$/.test(sha256)
        ? undefined
        : `sha256: '${sha256}' is no SHA-256; give 64 lower-case hex digits, as sha256sum prints them`,
      expectedRevision === undefined || (Number.isSafeInteger(expectedRevision) && expectedRevision >= 1)
        ? undefined
        : `expectedRevision: ${expectedRevision} is no revision; give a whole number of at least 1`,
    ),
    ...jobIdentityProblems(origin, source._store()),
  ];
}
