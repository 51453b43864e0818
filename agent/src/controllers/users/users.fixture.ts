import type { EtcdPermissionSpec } from '../../../../src/resource/types.ts';
import { group } from '../../kube/paths.ts';
import { issueIntermediate, issueLeaf, issueRoot } from '../certificates/issue.ts';
import type { Permission } from '../etcd/auth-calls.ts';
import type { EtcdUserObject } from '../objects/user-object.ts';
import { type AuthFacts, after, decide, described, type UserDecision, type WantedAuth } from './decide.ts';

/** An EtcdUser of the cluster `orders`. `age`: hours since it was made. */
export const user = (
  name: string,
  permissions: readonly EtcdPermissionSpec[] = [],
  { age = 1, ...spec }: Partial<EtcdUserObject['spec']> & { age?: number } = {},
): EtcdUserObject => ({
  metadata: {
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: `2026-01-01T${String(20 - age).padStart(2, '0')}:00:00Z`,
  },
  spec: { clusterName: 'orders', permissions, ...spec },
});

/** A certificate with this common name, of an authority of its own. */
export async function pemOf(commonName: string): Promise<Buffer> {
  const now = Date.now();
  const authority = await issueIntermediate('CA', await issueRoot('root', now), now);
  const { cert } = await issueLeaf({ commonName, dnsNames: [], ipAddresses: [], isServer: false }, authority, now);
  return Buffer.from(cert);
}

export const mark = (name: string): string => `${group}/${name}`;

/** An etcd as a model: it takes every call. */
export class ModelEtcd {
  facts: AuthFacts;

  constructor(
    users: Record<string, string[]> = {},
    roles: Record<string, readonly Permission[]> = {},
    isEnabled = false,
  ) {
    this.facts = { isEnabled, users: new Map(Object.entries(users)), roles: new Map(Object.entries(roles)) };
  }

  decide(wanted: Partial<WantedAuth>, failed?: ReadonlyMap<string, string>): UserDecision {
    return decide(this.facts, { cluster: 'orders', users: [], ...wanted }, failed);
  }

  /** Makes calls until there is none; returns them. */
  settle(wanted: Partial<WantedAuth>): string[] {
    const made: string[] = [];
    for (let { call } = this.decide(wanted); call; { call } = this.decide(wanted)) {
      if (made.length > 50) throw new Error(`never settles: ${made}`);
      made.push(described(call));
      this.facts = after(this.facts, call);
    }
    return made;
  }
}
