import type { ApiClient } from '../../kube/api-client.ts';
import { unlessMissing } from '../../kube/api-error.ts';
import type { Paths } from '../../kube/paths.ts';
import type { EtcdClusterObject } from '../objects/cluster-object.ts';

interface Api {
  readonly client: ApiClient;
  readonly paths: Paths;
}

export interface FollowedByOptions {
  /** Lease of this reconciler. */
  readonly lease: string;
  readonly heartbeat: number;
  /** Whether nobody holds this Lease. False if that cannot be read. */
  readonly isFree: (lease: string) => Promise<boolean>;
}

/** The Lease of another reconciler that has reported the status. It may follow the cluster. */
export function reporterOf({ status }: Pick<EtcdClusterObject, 'status'>, ownLease: string): string | undefined {
  const { lease } = status?.reconciler ?? {};
  return lease === ownLease ? undefined : lease;
}

/** Whether the holder of this Lease has written the status of a cluster. */
export async function hasReported({ client, paths }: Api, lease: string): Promise<boolean> {
  const list = await client.list<EtcdClusterObject>(paths.of('etcdclusters')).catch(unlessMissing);
  return list?.items.some(({ status }) => status?.reconciler?.lease === lease) ?? false;
}

/**
 * Finds out which clusters another reconciler follows: its Lease is held, and it writes the status again and again. Clocks of
 * different machines are never compared.
 */
export class FollowedBy {
  readonly #options: FollowedByOptions;
  /** By the uid of a cluster: its last status of another reconciler, and when this process first saw it. */
  readonly #seen = new Map<string, { readonly what: string; readonly at: number }>();

  constructor(options: FollowedByOptions) {
    this.#options = options;
  }

  /** Returns the Lease of the other reconciler that follows the cluster, if there is one. */
  async ask(cluster: EtcdClusterObject): Promise<string | undefined> {
    const { lease, heartbeat, isFree } = this.#options;
    const { uid } = cluster.metadata;
    const other = reporterOf(cluster, lease);
    if (other === undefined) {
      this.#seen.delete(uid);
      return undefined;
    }
    const what = `${other} ${cluster.status?.observedAt}`;
    const before = this.#seen.get(uid);
    const seen = before?.what === what ? before : { what, at: performance.now() };
    this.#seen.set(uid, seen);
    if (await isFree(other)) return undefined;
    return performance.now() - seen.at < 1.5 * heartbeat ? other : undefined;
  }
}
