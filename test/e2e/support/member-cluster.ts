import { App, Chart, JsonPatch, Size } from 'cdk8s';
import {
  EtcdCluster,
  type EtcdClusterProps,
  EtcdPermission,
  EtcdReconciler,
  type EtcdReconcilerProps,
  EtcdTls,
  EtcdVersion,
  ImagePullPolicy,
} from '../../../src';
import { clientServiceName } from '../../../src/etcd/client-service-name';
import { peerNames, serverNames } from '../../../src/tls/certificates';
import { tlsSecretNames } from '../../../src/tls/default-names';
import type { Manifest } from '../../synth';
import { Authority } from './certificates';
import { Client, type ClientOptions } from './client';
import type { Namespace } from './namespace';
import { agentImage } from './settings';

const rootFiles = '/etc/etcd/tls/root';
const image = { agentImage, imagePullPolicy: ImagePullPolicy.IF_NOT_PRESENT };

/** Synthesized objects, to change or extend. */
export interface Parts {
  readonly chart: Chart;
  readonly reconciler: EtcdReconciler;
  readonly cluster: EtcdCluster;
}

export interface MemberClusterOptions {
  /** Default `orders`. */
  readonly name?: string;
  /**
   * With certificates of the reconciler, or with Secrets that the test writes; `later`: the test switches TLS on, and the client
   * knows both schemes. Default: without TLS.
   */
  readonly tls?: boolean | 'secrets' | 'later';
  /** With certificates of the reconciler and authentication: the client is a user, and `etcdctl` is root. */
  readonly users?: boolean;
  readonly props?: Partial<EtcdClusterProps>;
  readonly reconciler?: Partial<EtcdReconcilerProps>;
  readonly shape?: (parts: Parts) => void;
  /** Manifests from elsewhere, instead of synthesized ones. */
  readonly manifests?: () => Promise<string>;
}

export interface ClusterClientOptions extends Pick<ClientOptions, 'outlivesNode' | 'labels' | 'tlsSecret'> {
  /** Namespace of the client, if not that of the cluster. */
  readonly inside?: Namespace | undefined;
}

/** An EtcdCluster with its reconciler, controlled only by synth and apply. */
export class MemberCluster {
  static async create(namespace: Namespace, options: MemberClusterOptions = {}): Promise<MemberCluster> {
    const cluster = new MemberCluster(namespace, options);
    if (options.tls === 'secrets') await cluster.#certify();
    return cluster;
  }

  readonly name: string;
  readonly #namespace: Namespace;
  readonly #tls: boolean | 'secrets' | 'later';
  readonly #users: boolean;
  #props: Partial<EtcdClusterProps>;
  #reconciler: Partial<EtcdReconcilerProps>;
  #shape: (parts: Parts) => void;
  #source: () => Promise<string>;

  private constructor(namespace: Namespace, options: MemberClusterOptions) {
    const { name = 'orders', users = false, tls = users, props = {}, reconciler = {} } = options;
    const { shape = () => {}, manifests } = options;
    this.name = name;
    this.#namespace = namespace;
    this.#tls = tls;
    this.#users = users;
    this.#props = props;
    this.#reconciler = reconciler;
    this.#shape = shape;
    this.#source = manifests ?? (async () => this.#synthesized());
  }

  /** Applies the manifests. Changed properties stay changed. */
  async apply(props: Partial<EtcdClusterProps> = {}, flags: readonly string[] = ['--server-side']): Promise<string> {
    this.#props = { ...this.#props, ...props };
    const { stdout } = await this.#namespace.kubectl(['apply', ...flags, '-f', '-'], await this.manifests());
    return stdout;
  }

  /** Manifests to apply. */
  manifests(): Promise<string> {
    return this.#source();
  }

  /** Deletes everything that was applied. Other objects stay. */
  async delete(...flags: string[]): Promise<void> {
    await this.#namespace.kubectl(['delete', ...flags, '-f', '-'], await this.manifests());
  }

  /** From the next apply on. */
  reshape(shape: (parts: Parts) => void, reconciler: Partial<EtcdReconcilerProps> = this.#reconciler): void {
    this.#shape = shape;
    this.#reconciler = reconciler;
  }

  /** From the next apply on, instead of synthesized manifests. */
  comesFrom(manifests: () => Promise<string>): void {
    this.#source = manifests;
  }

  /** Waits until it has this number of members, each in a ready pod, and no operation is left. */
  async ready(size: number, seconds = 480): Promise<Manifest> {
    return this.#namespace.until(`${this.name} of ${size}`, seconds, async () => {
      const { spec, metadata, status } = await this.resource();
      const ready = status?.conditions?.find(({ type }: Manifest) => type === 'Ready');
      const done = ready?.status === 'True' && status.voters === size && status.readyVoters === size;
      if (!done || spec.size !== size || status.observedGeneration !== metadata.generation) return undefined;
      const pods = await this.pods();
      return pods.length === size && pods.every(isReady) ? status : undefined;
    });
  }

  resource(): Promise<Manifest> {
    return this.#namespace.get('etcdcluster', this.name);
  }

  async condition(type: string): Promise<Manifest | undefined> {
    const { status } = await this.resource();
    return status?.conditions?.find((condition: Manifest) => condition.type === type);
  }

  /** Returns the reasons of its events since then, by their last occurrence. */
  async told(since: number): Promise<string[]> {
    const { items } = await this.#namespace.get('events', '--field-selector=involvedObject.kind=EtcdCluster');
    const at = ({ lastTimestamp, eventTime }: Manifest): number => Date.parse(lastTimestamp ?? eventTime);
    const late = items.filter((event: Manifest) => at(event) >= since - 1_000);
    return [...late].sort((a, b) => at(a) - at(b)).map(({ reason }) => reason);
  }

  async record(): Promise<Manifest> {
    const { data } = await this.#namespace.get('configmap', `${this.name}-record`);
    return JSON.parse(data['record.json']);
  }

  async pods(): Promise<Manifest[]> {
    const labels = `app.kubernetes.io/instance=${this.name},app.kubernetes.io/component=member`;
    return (await this.#namespace.get('pods', `--selector=${labels}`)).items;
  }

  pod(ordinal: number): string {
    return `${this.name}-${ordinal}`;
  }

  /** Returns the member id from the status. */
  async memberId(ordinal: number): Promise<string | undefined> {
    const { status } = await this.resource();
    return status?.members?.find((member: Manifest) => member.ordinal === ordinal)?.memberId;
  }

  /** Returns the member ids of this number of ordinals. */
  memberIds(size = 3): Promise<(string | undefined)[]> {
    return Promise.all(Array.from({ length: size }, (_, ordinal) => this.memberId(ordinal)));
  }

  async deletePods(...ordinals: number[]): Promise<void> {
    await this.#namespace.kubectl(['delete', 'pod', '--wait=false', ...ordinals.map((ordinal) => this.pod(ordinal))]);
  }

  /** Deletes the volumes, and also the pods, because a volume in use is not deleted. */
  async loseVolumes(...ordinals: number[]): Promise<void> {
    const claims = ordinals.map((ordinal) => `data-${this.pod(ordinal)}`);
    await this.#namespace.kubectl(['delete', 'pvc', '--wait=false', ...claims]);
    await this.deletePods(...ordinals);
  }

  /** Waits until the member of this ordinal has been replaced. */
  async replaced(ordinal: number, before: string | undefined, seconds = 240): Promise<void> {
    await this.#namespace.until(`another member ${ordinal}`, seconds, async () => {
      const now = await this.memberId(ordinal);
      return now !== undefined && now !== before ? now : undefined;
    });
  }

  /** Service through which clients reach one member. */
  clientName = (ordinal: number) => clientServiceName(this.pod(ordinal));

  /** A client that knows the maximum number of members. */
  client({ inside = this.#namespace, ...options }: ClusterClientOptions = {}, members = 5): Promise<Client> {
    const schemes = this.#tls === 'later' ? ['http', 'https'] : [this.#tls ? 'https' : 'http'];
    const host = (ordinal: number) => `${this.clientName(ordinal)}.${this.#namespace.name}.svc.cluster.local:2379`;
    const all = Array.from({ length: members }, (_, ordinal) => host(ordinal));
    return Client.start(inside, this.name, {
      endpoints: schemes.flatMap((scheme) => all.map((each) => `${scheme}://${each}`)),
      isTlsOptional: this.#tls === 'later',
      tlsSecret: this.#users ? `${this.name}-user-client` : this.#tls ? this.#secrets.client : undefined,
      rootTlsSecret: this.#users ? this.#secrets.root : undefined,
      ...options,
    });
  }

  /** `input` is its standard input, for example a value to put. */
  async etcdctl(args: readonly string[], ordinal = 0, input?: string): Promise<string> {
    const files = this.#users ? rootFiles : '/etc/etcd/tls/server';
    const tls = [
      ...['--endpoints=https://localhost:2379', `--cacert=${files}/ca.crt`],
      ...[`--cert=${files}/tls.crt`, `--key=${files}/tls.key`],
    ];
    const interactive = input === undefined ? [] : ['-i'];
    const command = ['etcdctl', ...(this.#tls && this.#tls !== 'later' ? tls : []), ...args];
    const exec = ['exec', ...interactive, this.pod(ordinal), '-c', 'etcd', '--', ...command];
    return (await this.#namespace.kubectl(exec, input)).stdout.trim();
  }

  get #secrets() {
    return tlsSecretNames(this.name);
  }

  async #certify(): Promise<void> {
    const authority = await Authority.create();
    const names = { name: this.name, namespace: this.#namespace.name, clusterDomain: 'cluster.local' };
    const { peer, server, client, root, backup } = this.#secrets;
    await this.#namespace.apply([
      await authority.secret(peer, peerNames(names)),
      await authority.secret(server, serverNames(names)),
      await authority.secret(client),
      await authority.secret(root, [], 'root'),
      await authority.secret(backup, [], `${this.name}-backup`),
    ]);
  }

  #etcdTls(): EtcdTls {
    if (this.#tls === 'secrets') return EtcdTls.fromSecrets(this.#secrets);
    return this.#tls === true ? EtcdTls.managed() : EtcdTls.none();
  }

  #synthesized(): string {
    const app = new App();
    const chart = new Chart(app, this.name, { namespace: this.#namespace.name });
    const { agentImage: reconcilerImage, imagePullPolicy } = image;
    const reconciler = new EtcdReconciler(chart, 'reconciler', {
      ...{ image: reconcilerImage, imagePullPolicy },
      ...this.#reconciler,
    });
    const cluster = new EtcdCluster(chart, this.name, {
      ...{ reconciler, version: EtcdVersion.of('3.6.16'), volume: { size: Size.gibibytes(2) } },
      tls: this.#etcdTls(),
      ...image,
      ...this.#props,
    });
    if (this.#users) addClient(cluster);
    this.#shape({ chart, reconciler, cluster });
    return app.synthYaml();
  }
}

/** Adds the user of the client, and gives the containers of etcd root's certificate, for `etcdctl`. */
function addClient(cluster: EtcdCluster): void {
  cluster.addUser('client', { can: [EtcdPermission.readWrite('w/')] });
  const mount = { name: 'root-tls', mountPath: rootFiles, readOnly: true };
  cluster.statefulSet.addJsonPatch(JsonPatch.add('/spec/template/spec/containers/0/volumeMounts/-', mount));
}

const isReady = ({ metadata, status }: Manifest): boolean =>
  metadata.deletionTimestamp === undefined &&
  status.conditions?.some(({ type, status }: Manifest) => type === 'Ready' && status === 'True');
