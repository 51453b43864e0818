import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import { agentImage } from '../lib/agent-image';
import { takeName } from '../lib/name-registry';
import { agentImageProblem } from '../lib/pod-problems';
import type { StoreDefinition } from '../stores/store-definition';
import { nameProblem, problemsOf } from '../validation/names';

/** As whom, and with which executables, a Job of the reconciler reaches a store. */
export interface JobIdentity {
  readonly serviceAccountName?: string;
  readonly image?: string;
}

export function jobIdentityProblems({ serviceAccountName, image }: JobIdentity, store?: StoreDefinition): string[] {
  return problemsOf(
    serviceAccountName === undefined ? undefined : nameProblem('serviceAccountName', serviceAccountName),
    agentImageProblem(image),
    store?.needsOwnImage && (image === undefined || image === agentImage)
      ? "image: store runs executables that the agent's own image does not have; name an image of yours with them and the agent in it"
      : undefined,
  );
}

/** The Job's ServiceAccount, when the store's workload identity has annotations for one and none is named. */
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
