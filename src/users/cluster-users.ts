import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { appState, isAttached } from '../lib/construct-tree';

interface User extends Construct {
  readonly userName: string;
}

/** Records a user of a cluster. */
export function addUserOf(user: User, cluster: string): void {
  const users = usersByCluster(user);
  const key = keyOf(user, cluster);
  users.set(key, [...(users.get(key) ?? []), user]);
}

/** Returns the names of the users that the app adds to a cluster of the construct's namespace. */
export function usersOf(construct: Construct, cluster: string): string[] {
  const users = usersByCluster(construct).get(keyOf(construct, cluster)) ?? [];
  return users.filter(isAttached).map(({ userName }) => userName);
}

const usersByCluster = (construct: Construct): Map<string, User[]> => appState(construct, 'users.v1', () => new Map());

/** Charts without a namespace are kept apart: they may be applied to different namespaces. */
function keyOf(construct: Construct, cluster: string): string {
  const { namespace, node } = Chart.of(construct);
  return JSON.stringify([namespace === undefined ? { chart: node.path } : { namespace }, cluster]);
}
