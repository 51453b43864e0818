import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import { agentImage } from '../lib/agent-image';
import { takeName } from '../lib/name-registry';
import { agentImageProblem } from '../lib/pod-problems';
import type { JobFields } from '../lib/pods/pod-fields';
import { inside } from '../resource/prop-problems';
import type { BackupStoreSpec, EtcdBackupSpec } from '../resource/types';
import type { StoreDefinition } from '../stores/store-definition';
import type { INamed } from '../validation/named';
import { problemsOf } from '../validation/problems';
import { type BackupResources, resourcesPropNames } from './backup-resources';
import { finishedProblems } from './schedule-manifests';

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

/** Problems with the changes of the pods of a Job. The reconciler applies them, after those of its cluster. */
export function jobOverrideProblems({ overrides, ...fields }: JobFields & Pick<EtcdBackupSpec, 'overrides'>) {
  const usual = { name: 'job', cron: '@daily', stores: [], ...fields, overrides };
  return finishedProblems(usual, overrides, { cronJobName: 'job', cluster: 'job', endpoints: [], labels: {} }, [
    'BackupPods',
  ]);
}

/** Creates the Job's ServiceAccount if the store's workload identity has annotations and no ServiceAccount is given. */
export function jobAccount(
  scope: Construct,
  metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
  { serviceAccountName }: JobIdentity,
  store?: StoreDefinition,
): ApiObject | undefined {
  const annotations = store?.serviceAccountAnnotations ?? {};
  if (serviceAccountName !== undefined || Object.keys(annotations).length === 0) return undefined;
  takeName(scope, 'ServiceAccount', metadata.name);
  return new ApiObject(scope, 'ServiceAccount', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { ...metadata, annotations },
    automountServiceAccountToken: false,
  });
}
