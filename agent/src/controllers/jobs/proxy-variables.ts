import type { ApiClient } from '../../kube/api-client.ts';
import { isStatus } from '../../kube/api-error.ts';
import { mainContainer, reconcilerContainer } from '../../kube/containers.ts';
import type { DeploymentObject } from '../../kube/objects.ts';
import type { Paths } from '../../kube/paths.ts';

export interface OwnDeployment {
  readonly client: ApiClient;
  readonly paths: Paths;
  /** Deployment of this reconciler. Undefined outside of Kubernetes. */
  readonly deployment?: string | undefined;
}

/** Returns the Deployment of this reconciler, or undefined if there is none, or none that it may read. */
export async function readOwnDeployment(own: OwnDeployment): Promise<DeploymentObject | undefined> {
  const { client, paths, deployment } = own;
  if (deployment === undefined) return undefined;
  try {
    return await client.get<DeploymentObject>(paths.of('deployments', deployment));
  } catch (error) {
    if (isStatus(error, 404) || isStatus(error, 403)) return undefined;
    throw error;
  }
}

/**
 * The proxy variables of this reconciler, for its Jobs: what reaches the internet through a proxy here does so in every pod.
 * They are copied as the Deployment declares them, so the value of a Secret stays in it.
 */
export const proxyVariables = (deployment: DeploymentObject | undefined): readonly { readonly name: string }[] =>
  (mainContainer(deployment?.spec.template.spec.containers, reconcilerContainer)?.env ?? []).filter(({ name }) =>
    /^(https?|no)_proxy$/i.test(name),
  );
