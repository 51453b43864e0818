import type { Construct } from 'constructs';
import { isExistingEtcd, isMisnamed, otherNamespaceProblem } from '../backup/etcd-cluster-checks';
import { labelProblems } from '../lib/labels';
import { clientUser } from '../tls/tls-names';
import { usersOf } from '../users/cluster-users';
import { canHaveUsers } from '../users/user-access';
import { nameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import type { EtcdClientProps, EtcdConnectOptions } from './etcd-client-props';

type Named = Construct & { readonly clientName: string };

/** Problems with a client's properties, each with its remedy. Its user reports those of the user. */
export function clientProblems(client: Named, props: EtcdClientProps): string[] {
  const { cluster, can, podLabels, labels } = props;
  const own = (['userName', 'secretName', 'password'] as const).filter((name) => props[name] !== undefined);
  return [
    ...problemsOf(
      isMisnamed(cluster) ? undefined : nameProblem('id', client.clientName),
      can || isExistingEtcd(cluster) ? undefined : otherNamespaceProblem(client, cluster),
      ...(can ? [] : own.map((name) => `${name}: has no effect without can; give both, or remove it`)),
      can ? undefined : noUserProblem(client, cluster),
      podLabels && Object.keys(podLabels).length === 0
        ? 'podLabels: is empty, which would select every pod; give a label, or leave it out'
        : undefined,
    ),
    ...labelProblems('podLabels', podLabels),
    ...labelProblems('labels', labels),
  ];
}

function noUserProblem(client: Construct, cluster: EtcdClientProps['cluster']): string | undefined {
  if (!canHaveUsers(cluster)) return undefined;
  const users = usersOf(client, cluster.clusterName);
  const isOn = users.length > 0 || cluster._userAccess().auth === true;
  if (!isOn || users.includes(clientUser(cluster.clusterName))) return undefined;
  return `can: etcd's authentication of '${cluster.clusterName}' is on, so a client without a user may do nothing; give can`;
}

/** Problems with the options of `connect`, each with its remedy. */
export function connectProblems({ containers, mountPath, envPrefix }: EtcdConnectOptions): string[] {
  return problemsOf(
    containers?.length === 0 ? 'containers: is empty; name a container, or leave it out for all' : undefined,
    mountPath === undefined || /^\/[^:]*[^:/]$/.test(mountPath)
      ? undefined
      : `mountPath: '${mountPath}' is not a valid directory; write it like /etc/etcd-client, without ':' and without '/' at the end`,
    envPrefix === undefined || /^[A-Za-z_][A-Za-z0-9_]*$/.test(envPrefix)
      ? undefined
      : `envPrefix: '${envPrefix}' cannot begin the name of a variable; use letters, digits and '_', such as ETCD`,
  );
}
