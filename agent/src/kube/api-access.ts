import type { ApiAccess } from './api-client.ts';
import { podAccess } from './pod-access.ts';

/** Uses KUBECONFIG if it is set, else the pod's own token, else the user's kubeconfig. */
export async function findAccess(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<ApiAccess> {
  if (!env.KUBECONFIG && env.KUBERNETES_SERVICE_HOST) return podAccess(env);
  // Loaded lazily: the library is large, and pods do not need it.
  const { kubeConfigAccess } = await import('./kube-config-access.ts');
  return kubeConfigAccess({ signal });
}
