import type { ApiClient } from '../../kube/api-client.ts';
import { isStatus } from '../../kube/api-error.ts';
import { groupVersion } from '../../kube/paths.ts';

/**
 * False while the CRD of EtcdUsers is being deleted. All EtcdUsers are deleted with it, which is nobody's wish to delete the
 * users in etcd. The API server then offers no `create` for them, before it deletes the first one.
 */
export async function areUsersServed(client: ApiClient): Promise<boolean> {
  try {
    const verbs = await client.verbs(`/apis/${groupVersion}`);
    return verbs.get('etcdusers')?.includes('create') ?? false;
  } catch (error) {
    // By default everybody who is authenticated may read this.
    if (isStatus(error, 403)) return true;
    if (isStatus(error, 404)) return false;
    throw error;
  }
}
