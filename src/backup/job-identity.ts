import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import { agentImage } from '../lib/agent-image';
import { annotated } from '../lib/labels';
import { takeName } from '../lib/name-registry';
import { agentImageProblem } from '../lib/pod-problems';
import { jobAccountOf } from '../lib/pods/job-account';
import { inside } from '../resource/prop-problems';
import type { BackupStoreSpec, EtcdBackupSpec } from '../resource/types';
import type { StoreDefinition } from '../stores/store-definition';
import type { INamed } from '../validation/named';
import { problemsOf } from '../validation/problems';
import { type BackupResources, resourcesPropNames } from './backup-resources';

/** The identity, image and resources of a Job of the reconciler that accesses a store. */
export interface JobIdentity {
  readonly serviceAccountName?: string | INamed;
  readonly image?: string;
  readonly resources?: BackupResources;
}

/** Problems that the schema does not know. */
export function jobIdentityProblems(image: string | undefined, store: BackupStoreSpec | undefined): string[] {
  return problemsOf(
    agentImageProblem(image),
    store?.command && image === agentImage
      ? "image: store runs executables that the agent's own image does not contain; give your own image with these and the agent"
      : undefined,
  );
}

/** Properties of the fields of a Job. */
export const jobPropNames = { ...inside('resources', resourcesPropNames), ttlSecondsAfterFinished: 'ttlAfterFinished' };

/** The annotations of the workload identity of a store, unless a ServiceAccount is given. */
export function accountAnnotations({ serviceAccountName }: JobIdentity, store: StoreDefinition | undefined) {
  const annotations = store?.serviceAccountAnnotations ?? {};
  return serviceAccountName === undefined && Object.keys(annotations).length > 0 ? annotations : undefined;
}

/** Creates the Job's ServiceAccount if the spec has annotations for it. */
export function jobAccount(
  scope: Construct,
  kind: 'backup' | 'restore',
  { name, labels }: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
  spec: Pick<EtcdBackupSpec, 'annotations' | 'serviceAccountAnnotations'>,
): ApiObject | undefined {
  if (!spec.serviceAccountAnnotations) return undefined;
  const account = jobAccountOf(kind, name, spec)!;
  takeName(scope, 'ServiceAccount', account);
  return new ApiObject(scope, 'ServiceAccount', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: account, labels, ...annotated({ ...spec.annotations, ...spec.serviceAccountAnnotations }) },
    automountServiceAccountToken: false,
  });
}
