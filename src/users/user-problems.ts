import type { Construct } from 'constructs';
import { isExistingEtcd, isMisnamed, otherNamespaceProblem } from '../backup/etcd-cluster-checks';
import type { IEtcdCluster } from '../backup/i-etcd-cluster';
import { authorizationProblem } from '../etcd/advisories';
import { labelProblems } from '../lib/labels';
import type { TlsBinding } from '../tls/tls-binding';
import type { INamed } from '../validation/named';
import { nameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import type { EtcdUserProps } from './etcd-user-props';
import type { UserAccess } from './user-access';

/** Problems with a user's properties that its resource does not show, each with its remedy. */
export function userProblems(user: Named, props: EtcdUserProps, access: UserAccess | undefined): string[] {
  const { cluster, labels } = props;
  // A cluster that reports its name has given it to these.
  const derived = (given: string | INamed | undefined) => given === undefined && isMisnamed(cluster);
  return [
    ...problemsOf(
      derived(props.name) ? undefined : nameProblem('name', user.resourceName),
      derived(props.secretName) ? undefined : nameProblem('secretName', user.secretName),
      access ? otherNamespaceProblem(user, cluster) : notOursProblem(cluster),
      access && accessProblem(access, cluster.clusterName),
      props.password && access ? passwordSecretProblem(user.secretName, access.tls) : undefined,
    ),
    ...labelProblems('labels', labels),
  ];
}

/** Ends the name of the Role for the Secret of a user. A cluster's name has no dot, so no Role of a cluster has this name. */
export const roleEnding = '.reconciler';

type Named = Construct & Readonly<Record<'resourceName' | 'secretName', string>>;

function notOursProblem(cluster: IEtcdCluster): string {
  const what = isExistingEtcd(cluster) ? 'is an existing etcd cluster, not' : 'is not';
  return `cluster: '${cluster.clusterName}' ${what} an EtcdCluster, so no reconciler manages its users; create the user with etcdctl`;
}

/** Where the reconciler writes the certificates of the cluster, their Secrets are objects, whose names are compared. */
function passwordSecretProblem(name: string, { managed, secrets }: TlsBinding): string | undefined {
  if (managed || !Object.values(secrets ?? {}).includes(name)) return undefined;
  return `secretName: '${name}' is the Secret with a certificate of the cluster; give another name`;
}

function accessProblem({ tls, auth, version }: UserAccess, cluster: string): string | undefined {
  if (auth === false) {
    return `cluster: auth of '${cluster}' is false, so its users would have no effect; remove auth: false, or this user`;
  }
  const problem = rootProblem(tls) ?? (version === undefined ? undefined : authorizationProblem(version));
  return problem && `cluster: '${cluster}' cannot have users: ${problem}`;
}

/** Problem if etcd's authentication cannot be on, or undefined. */
function rootProblem({ secrets, disabling, trust }: TlsBinding): string | undefined {
  if (disabling)
    return "users need certificates, but TLS is being switched off (EtcdTls.none({ previous }), in YAML tls.disabling); remove the users, set auth: false, and keep TLS until etcd's authentication is off";
  if (trust)
    return 'users need certificates, but the source of the certificates is being changed (alsoTrust); remove the users and auth: true until alsoTrust is gone';
  if (!secrets) return 'users need certificates, but the cluster has no TLS; switch it on';
  if (secrets.root !== undefined) return undefined;
  return 'there is no certificate for root; give root and backup to EtcdTls.fromSecrets, in YAML tls.rootSecret and tls.backupSecret';
}
