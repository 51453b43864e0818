import { ApiObject, Chart } from 'cdk8s';
import { Construct, type IConstruct } from 'constructs';
import { isExistingEtcd } from '../backup/etcd-cluster-checks';
import { ports } from '../etcd/cluster-ports';
import { labelOf } from '../lib/labels';
import { ObjectNames } from '../lib/name-registry';
import { policyPorts } from '../lib/network-access';
import type { EtcdClientTls } from '../tls/etcd-client-tls';
import { EtcdUser } from '../users/etcd-user';
import { requireFreeId } from '../validation/construct-id';
import { derivedName } from '../validation/derived-name';
import * as types from '../validation/property-types';
import { requireTypes } from '../validation/type-checks';
import { type ClientAccess, clientAccess } from './client-access';
import { type Connection, clientPod } from './client-pod';
import { clientProblems, connectProblems } from './client-problems';
import type { EtcdClientProps, EtcdConnectOptions } from './etcd-client-props';
import { type Extended, withAddition } from './pod-template';

/**
 * Adds a client of an etcd cluster: what the pods of an application need to connect. `connect` gives it to a workload.
 *
 * `cluster.addClient` does the same. Use this class for a cluster that another app creates, and for an existing etcd.
 */
export class EtcdClient extends Construct {
  /** Names the client: `<cluster>-<id>`. */
  readonly clientName: string;
  /** Lists the client URL of each member. */
  readonly endpoints: string[];
  /** Gives the client its TLS settings. They are undefined without TLS. */
  readonly clientTls?: EtcdClientTls;
  /**
   * Names the Secret with the certificate that the client presents. It is undefined without TLS, and if the client
   * presents none.
   */
  readonly clientTlsSecretName?: string;
  /** Is the user of etcd as which the client connects. It is undefined without `can`. */
  readonly user?: EtcdUser;
  /** Selects the client's pods. */
  readonly podLabels: { readonly [name: string]: string };
  /**
   * This NetworkPolicy lets the client's pods connect to the members. It is undefined if the members admit every pod of
   * the namespace anyway, and for an existing etcd.
   */
  readonly networkPolicy?: ApiObject;
  private readonly connection: Connection;
  private readonly ownNamespaceOnly: boolean;
  private readonly names = new ObjectNames(this);

  /**
   * Creates the client's objects.
   *
   * @param scope The chart, or a construct inside of one.
   * @param id An id that is unique within `scope`. By default, the client is named `<cluster>-<id>`.
   * @param props The cluster, and what the client may do.
   */
  constructor(scope: Construct, id: string, props: EtcdClientProps) {
    super(scope, requireFreeId(scope, id));
    requireTypes(this, props, types.EtcdClientProps);
    const { cluster, can, userName, secretName, password, labels } = props;
    const access = clientAccess(cluster);
    this.clientName = derivedName(`${cluster.clusterName}-${id}`);
    this.endpoints = cluster.clientEndpoints;
    this.user = can && new EtcdUser(this, id, { cluster, can, userName, secretName, password, labels });
    this.clientTls = this.user?.clientTls ?? cluster.clientTls;
    const tls = this.clientTls?._pod();
    this.clientTlsSecretName = tls?.clientCertificate ? tls.files.secretName : undefined;
    this.podLabels = props.podLabels ?? { [`client.cdk8s-etcd.dev/${labelOf(this.clientName)}`]: 'true' };
    this.networkPolicy = access && !access.admitsNamespace ? this.createPolicy(props, access) : undefined;
    this.node.defaultChild = this.user ?? this.networkPolicy;
    this.connection = {
      name: this.clientName,
      endpoints: this.endpoints,
      tls,
      login: this.login(props),
      podLabels: this.podLabels,
    };
    this.ownNamespaceOnly = access !== undefined || this.clientTls !== undefined || this.connection.login !== undefined;
    this.node.addValidation({ validate: () => [...clientProblems(this, props), ...this.names.problems()] });
  }

  /**
   * Lets a workload use etcd: mounts the certificate into its containers, sets the variables with the endpoints and the
   * files, and adds `podLabels` to its pods. The variables are those of etcdctl: `ETCDCTL_ENDPOINTS`, `ETCDCTL_CACERT`,
   * `ETCDCTL_CERT` and `ETCDCTL_KEY`.
   *
   * @param workload A Deployment, StatefulSet, Job, CronJob or Pod of cdk8s-plus, the ApiObject of any kind with a pod
   * template, or a construct whose default child is one.
   * @param options The containers, the directory and the names of the variables.
   * @throws if there is no ApiObject
   */
  connect(workload: IConstruct, options: EtcdConnectOptions = {}): void {
    requireTypes({ node: { path: `${this.node.path}: connect` } }, options, types.EtcdConnectOptions);
    const object = this.objectOf(workload);
    const before = object.toJson.bind(object);
    const extended = (): Extended => withAddition(before(), clientPod(this.connection, options));
    // Not a JsonPatch: containers, variables and volumes may be added until synthesis, and a patch would have to know
    // which of these lists exist.
    object.toJson = () => extended().manifest;
    this.node.addValidation({
      validate: () =>
        [...connectProblems(options), ...this.namespaceProblems(object), ...extended().problems].map(
          (problem) => `connect: ${workload.node.path}: ${problem}`,
        ),
    });
  }

  private objectOf(workload: IConstruct): ApiObject {
    const path = `${this.node.path}: connect`;
    if (!Construct.isConstruct(workload)) {
      throw new Error(`${path}: workload: is not a construct; give a workload of cdk8s-plus, or an ApiObject`);
    }
    let found: IConstruct | undefined = workload;
    while (found && !ApiObject.isApiObject(found)) found = found.node.defaultChild;
    if (found) return found;
    throw new Error(
      `${path}: workload: ${workload.node.path} has no ApiObject as its default child; give a workload of cdk8s-plus, or the ApiObject`,
    );
  }

  /** A pod can mount only Secrets of its own namespace. */
  private namespaceProblems(object: ApiObject): string[] {
    const own = Chart.of(this).namespace;
    const theirs = object.metadata.namespace;
    if (!this.ownNamespaceOnly || own === theirs) return [];
    const placeOf = (namespace: string | undefined) => (namespace === undefined ? 'no namespace' : `'${namespace}'`);
    return [`is in ${placeOf(theirs)}, but the client in ${placeOf(own)}; a client is for pods of its own namespace`];
  }

  private login({ cluster, password }: EtcdClientProps): Connection['login'] {
    if (!this.user) return isExistingEtcd(cluster) ? cluster._existing().auth?._files() : undefined;
    return password ? { secretName: this.user.secretName } : undefined;
  }

  private createPolicy({ cluster, labels }: EtcdClientProps, { memberSelector }: ClientAccess): ApiObject {
    const name = `${cluster.clusterName}-client-${derivedName(this.node.id)}`;
    this.names.take('NetworkPolicy', name);
    return new ApiObject(this, 'NetworkPolicy', {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: {
        name,
        labels: {
          'app.kubernetes.io/name': 'etcd-client',
          'app.kubernetes.io/instance': labelOf(this.clientName),
          'app.kubernetes.io/part-of': cluster.clusterName,
          'app.kubernetes.io/managed-by': 'cdk8s',
          ...labels,
        },
      },
      spec: {
        podSelector: { matchLabels: memberSelector },
        policyTypes: ['Ingress'],
        ingress: [{ from: [{ podSelector: { matchLabels: this.podLabels } }], ports: policyPorts([ports.client]) }],
      },
    });
  }
}
