import type { ApiClient } from '../../kube/api-client.ts';
import type { Troubles } from '../../kube/event-reader.ts';
import type { EventOf, Events } from '../../kube/events.ts';
import type { PodTemplate } from '../../kube/objects.ts';
import { groupVersion, type Paths } from '../../kube/paths.ts';
import type { Log } from '../../lib/log.ts';
import type { Scheme } from '../../protocol/record.ts';
import type { EtcdClusterObject } from '../objects/cluster-object.ts';
import { domainOf } from '../objects/stateful-set.ts';
import type { Pod } from '../port/observed.ts';
import type { ReconcilerSettings } from '../port/settings.ts';
import type { ClientMaterial, ClientTls } from './client-tls.ts';
import type { ResponseCache } from './response-cache.ts';

export interface ContextOptions {
  readonly client: ApiClient;
  readonly paths: Paths;
  readonly namespace: string;
  /** Name of the EtcdCluster. */
  readonly name: string;
  readonly settings: ReconcilerSettings;
  readonly events: Events;
  readonly clientTls: ClientTls;
  readonly troubles: Troubles;
  readonly log: Pick<Log, 'info' | 'warn' | 'error' | 'debug'>;
  readonly cache: ResponseCache;
  /** Deployment of this reconciler. Undefined outside of Kubernetes. */
  readonly deployment?: string | undefined;
}

/** State that the parts of one cluster's port share: the identity of the cluster, and what was last read of it. */
export class ClusterContext {
  readonly client: ApiClient;
  readonly paths: Paths;
  readonly namespace: string;
  readonly name: string;
  readonly settings: ReconcilerSettings;
  readonly log: ContextOptions['log'];
  readonly cache: ResponseCache;
  readonly troubles: Troubles;
  readonly deployment: string | undefined;
  readonly #options: ContextOptions;
  #cluster: EtcdClusterObject | undefined;
  #template: PodTemplate | undefined;
  #domain: string | undefined;
  #hasNoTemplate = false;
  #trusted: Buffer | undefined;
  #podsTrustBoth = true;

  constructor(options: ContextOptions) {
    this.#options = options;
    this.client = options.client;
    this.paths = options.paths;
    this.namespace = options.namespace;
    this.name = options.name;
    this.settings = options.settings;
    this.log = options.log;
    this.cache = options.cache;
    this.troubles = options.troubles;
    this.deployment = options.deployment;
  }

  get cluster(): EtcdClusterObject | undefined {
    return this.#cluster;
  }

  /** Pod template of the StatefulSet, as read in this pass. */
  get template(): PodTemplate | undefined {
    return this.#template;
  }

  /** DNS domain of the Kubernetes cluster. Undefined until the pod template has been read. */
  get domain(): string | undefined {
    return this.#domain;
  }

  setCluster(cluster: EtcdClusterObject | undefined): void {
    if (cluster) this.#cluster = cluster;
  }

  /** True if the StatefulSet does not exist. False if it exists or has not been read yet. */
  get hasNoTemplate(): boolean {
    return this.#hasNoTemplate;
  }

  /** Pass undefined if the StatefulSet does not exist. */
  setTemplate(template: PodTemplate | undefined): void {
    this.#hasNoTemplate = template === undefined;
    if (!template) return;
    this.#template = template;
    this.#domain = domainOf(template);
  }

  /** Forgets what only actions need. It is read again before the next action. */
  rest(): void {
    this.#template = undefined;
  }

  peerName(ordinal: number): string {
    return `${this.name}-${ordinal}.${this.name}-peers.${this.namespace}.svc.${this.domain}`;
  }

  /** URL of a pod, by its IP address. */
  urlOf(address: string, port: number, scheme: Scheme): string {
    return `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`;
  }

  /**
   * Returns the certificate of root, or undefined without TLS. Without that of root, which may be issued in a moment, the
   * certificate of clients does as well until authentication is on.
   */
  async tls(): Promise<ClientMaterial | undefined> {
    const { tls } = this.#cluster?.spec ?? {};
    if (!tls) return undefined;
    const clients = () => this.#material(tls.clientSecret);
    return tls.rootSecret === undefined ? clients() : this.#material(tls.rootSecret).catch(clients);
  }

  /** Returns the certificate of root and no other. */
  async rootTls(): Promise<ClientMaterial> {
    const secret = this.#cluster?.spec.tls?.rootSecret;
    if (secret === undefined)
      throw new Error(`EtcdCluster ${this.name} has no spec.tls.rootSecret, or was not read yet`);
    return this.#material(secret);
  }

  async #material(secret: string): Promise<ClientMaterial> {
    const { managed, serverSecret } = this.#cluster?.spec.tls ?? {};
    const list = managed && serverSecret;
    const own = await this.#options.clientTls.material(secret, `${this.name}.${this.namespace}.svc`, list);
    const both = await this.#authorities();
    return both ? { ...own, ca: Buffer.concat([own.ca!, Buffer.from('\n'), both]) } : own;
  }

  /**
   * The authorities of both sources of certificates, while one follows the other. They are kept when the spec no longer names
   * them, or when they cannot be read, until no pod trusts both: otherwise members that serve would seem not to.
   */
  async #authorities(): Promise<Buffer | undefined> {
    const { trustSecret } = this.#cluster?.spec.tls?.alsoTrust ?? {};
    const found = trustSecret && (await this.#options.clientTls.authorities(trustSecret).catch(() => undefined));
    if (found) this.#trusted = found;
    else if (trustSecret === undefined && !this.#podsTrustBoth) this.#trusted = undefined;
    return this.#trusted;
  }

  setPods(pods: readonly Pick<Pod, 'peers'>[]): void {
    this.#podsTrustBoth = pods.some(({ peers }) => (peers?.trusted.length ?? 0) > 1);
  }

  /** Emits an Event about the EtcdCluster, or about another of our resources. */
  emitEvent(
    type: EventOf['type'],
    reason: string,
    message: string,
    about:
      | { readonly kind: string; readonly name: string; readonly uid: string }
      | undefined = this.#clusterReference(),
  ): void {
    if (!about) return;
    const subject = { apiVersion: groupVersion, ...about, namespace: this.namespace };
    this.#options.events.emit(subject, { type, reason, message });
  }

  #clusterReference() {
    const uid = this.#cluster?.metadata.uid;
    return uid === undefined ? undefined : { kind: 'EtcdCluster', name: this.name, uid };
  }
}
