import type { ApiClient } from './api-client.ts';
import type { Paths } from './paths.ts';

/**
 * Returns true if the holder of a Lease was a pod that no longer exists. The Role allows to list pods, but not to get
 * one. A holder outside of Kubernetes has an underscore in its name, which a pod cannot have.
 */
export async function isHolderPodGone(
  { client, paths }: { readonly client: ApiClient; readonly paths: Paths },
  holder: string,
): Promise<boolean> {
  if (holder.includes('_')) return false;
  const { items } = await client.list(paths.of('pods'), { fieldSelector: `metadata.name=${holder}` });
  return items.length === 0;
}
