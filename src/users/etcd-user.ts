import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { isMisnamed } from '../backup/etcd-cluster-checks';
import type { IEtcdCluster } from '../backup/i-etcd-cluster';
import { annotated, labelOf } from '../lib/labels';
import type { Labels } from '../lib/manifest';
import { namesakeProblems, ObjectNames, reserveName, takeName } from '../lib/name-registry';
import { emittedProblems, withFound } from '../resource/prop-problems';
import type { EtcdUserSpec } from '../resource/types';
import { tlsSecretNames } from '../tls/default-names';
import { EtcdClientTls } from '../tls/etcd-client-tls';
import { requireFreeId } from '../validation/construct-id';
import { derivedName } from '../validation/derived-name';
import { nameOf } from '../validation/named';
import * as types from '../validation/property-types';
import { requireTypes } from '../validation/type-checks';
import { addUserOf } from './cluster-users';
import type { EtcdUserProps } from './etcd-user-props';
import { canHaveUsers, type UserAccess } from './user-access';
import { roleEnding, userProblems } from './user-problems';

/**
 * Adds a user to a cluster, with its permissions, and a certificate or a password that identifies it. The reconciler keeps
 * the user in etcd as it is here, and switches etcd's authentication on with the first one.
 *
 * `cluster.addUser` does the same. Use this class for a cluster that another app creates.
 */
export class EtcdUser extends Construct {
  /** Names the resource. */
  readonly resourceName: string;
  /** Names the user in etcd, and is the common name of its certificate, if it has one. */
  readonly userName: string;
  /**
   * Names the Secret with the user's certificate (`ca.crt`, `tls.crt`, `tls.key`). With `EtcdTls.fromSecrets` you create
   * it. With `password` it has `username` and `password` instead, which the reconciler writes.
   */
  readonly secretName: string;
  /**
   * Gives the TLS settings for a client that connects as this user. With `password` they are those of the cluster, and the
   * client also logs in with the `username` and `password` of the Secret.
   */
  readonly clientTls: EtcdClientTls;
  /** This custom resource describes the user to the reconciler. */
  readonly customResource: ApiObject;
  /**
   * This Secret holds the certificate or the password, which the reconciler writes. It is undefined without `password` if
   * the reconciler does not issue the certificates of the cluster.
   */
  readonly secret?: ApiObject;
  /** This Role lets the reconciler write `secret`. It is defined only together with it. */
  readonly role?: ApiObject;
  /** This RoleBinding grants `role` to the reconciler. It is defined only together with it. */
  readonly roleBinding?: ApiObject;
  /** This Certificate lets cert-manager write the Secret. It is undefined with `password` and with other TLS. */
  readonly certificate?: ApiObject;
  private readonly labels: Labels;
  private readonly annotations?: Labels;
  private readonly names = new ObjectNames(this);

  /**
   * Creates the resource and what its certificate or password needs.
   *
   * @param scope The chart, or a construct inside of one.
   * @param id An id that is unique within `scope`. By default, the user is named after it.
   * @param props The cluster, and what the user may do.
   */
  constructor(scope: Construct, id: string, props: EtcdUserProps) {
    super(scope, requireFreeId(scope, id));
    if (!props._written) requireTypes(this, props, types.EtcdUserProps);
    const { clusterName } = props.cluster;
    this.userName = props.userName ?? id;
    this.resourceName = props.name ?? derivedName(`${clusterName}-${id}`);
    this.secretName = nameOf(props.secretName) ?? userSecretName(clusterName, id, props.password);
    const access = canHaveUsers(props.cluster) ? props.cluster._userAccess() : undefined;
    this.annotations = access?.annotations;
    this.labels = {
      'app.kubernetes.io/name': 'etcd-user',
      'app.kubernetes.io/instance': labelOf(this.resourceName),
      'app.kubernetes.io/part-of': clusterName,
      'app.kubernetes.io/managed-by': 'cdk8s',
      ...access?.labels,
      ...props.labels,
    };
    this.clientTls = props.password ? tlsOfCluster(props.cluster, access) : EtcdClientTls.fromSecret(this.secretName);
    if (access && (props.password || access.tls.managed)) {
      this.secret = this.object('Secret', 'v1', 'Secret', this.secretName, { type: 'Opaque' });
      [this.role, this.roleBinding] = this.rights(access);
    }
    // Also if something else creates it: two users must not have one Secret.
    if (!this.secret) this.names.take('Secret', this.secretName);
    if (!props.password) this.certificate = this.certificateOf(access);
    if (this.certificate) reserveName(this, 'Secret', this.secretName, 'cert-manager');
    this.customResource = this.object('EtcdUser', 'cdk8s-etcd.dev/v1alpha1', 'EtcdUser', this.resourceName, {
      spec: userSpec(props, this.userName, this.secret && this.secretName),
    });
    this.node.defaultChild = this.customResource;
    // In etcd the names are those of the whole cluster.
    takeName(this, userOf(clusterName), this.userName);
    addUserOf(this, clusterName);
    this.node.addValidation({
      validate: () => {
        const own = [...userProblems(this, props, access), ...this.nameProblems(clusterName)];
        return withFound(own, emittedProblems(this.customResource, propNames, isMisnamed(props.cluster)));
      },
    });
  }

  /** RBAC cannot limit `create`, but it can limit `update` to this Secret. */
  private rights({ reconcilerAccount }: UserAccess): [ApiObject, ApiObject] {
    const name = `${this.secretName}${roleEnding}`;
    const rules = [
      { apiGroups: [''], resources: ['secrets'], resourceNames: [this.secretName], verbs: ['get', 'update'] },
    ];
    const rbac = 'rbac.authorization.k8s.io';
    return [
      this.object('Role', `${rbac}/v1`, 'Role', name, { rules }),
      this.object('RoleBinding', `${rbac}/v1`, 'RoleBinding', name, {
        roleRef: { apiGroup: rbac, kind: 'Role', name },
        subjects: [{ kind: 'ServiceAccount', name: reconcilerAccount }],
      }),
    ];
  }

  private certificateOf(access: UserAccess | undefined): ApiObject | undefined {
    const made = access?.tls.userCertificate?.(this.secretName, this.userName);
    return made && this.object('Certificate', made.apiVersion, made.kind, made.metadata.name, { spec: made.spec });
  }

  private object(id: string, apiVersion: string, kind: string, name: string, content: object): ApiObject {
    this.names.take(kind, name);
    const metadata = { name, labels: this.labels, ...annotated(this.annotations) };
    return new ApiObject(this, id, { apiVersion, kind, metadata, ...content });
  }

  private nameProblems(clusterName: string): string[] {
    return [
      ...new Set([
        ...this.names.problems(),
        ...namesakeProblems(this, userOf(clusterName), userOf(`'${clusterName}'`), this.userName),
      ]),
    ];
  }
}

/** Properties with other names than the fields. */
const propNames = {
  'spec.clusterName': 'cluster',
  'spec.permissions': 'can',
  'spec.certificateSecret': 'secretName',
  'spec.passwordSecret': 'secretName',
};

const userOf = (cluster: string) => `user of ${cluster}`;

/** TLS settings for all clients of a cluster. A cluster that is known only by its name has the default ones. */
function tlsOfCluster(cluster: IEtcdCluster, access: UserAccess | undefined): EtcdClientTls {
  const { client } = access?.tls.secrets ?? tlsSecretNames(cluster.clusterName);
  return cluster.clientTls ?? EtcdClientTls.fromSecret(client);
}

/**
 * Name of the Secret with the certificate or the password of a user, by the id of its construct. Not one Secret for both: that of
 * cert-manager has another type, and a certificate that is left in it would still name the user.
 */
export const userSecretName = (cluster: string, id: string, hasPassword = false): string =>
  `${cluster}-user-${derivedName(id)}${hasPassword ? '-password' : ''}`;

function userSpec(
  { cluster, can, password, _written }: EtcdUserProps,
  userName: string,
  filledSecret: string | undefined,
): EtcdUserSpec {
  return {
    ...(_written ?? {
      clusterName: cluster.clusterName,
      userName,
      permissions: can.map((permission) => permission._permission()),
    }),
    ...(password ? { passwordSecret: filledSecret } : { certificateSecret: filledSecret }),
  };
}
