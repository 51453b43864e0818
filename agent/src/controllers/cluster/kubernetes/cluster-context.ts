import type { ApiClient } from '../../../kube/api-client.ts';
import type { Troubles } from '../../../kube/event-reader.ts';
import type { EventOf, Events } from '../../../kube/events.ts';
import type { PodTemplate } from '../../../kube/objects.ts';
import { groupVersion, type Paths } from '../../../kube/paths.ts';
import type { Log } from '../../../lib/log.ts';
import type { ClientMaterial, ClientTls } from '../../client-tls.ts';
import type { Settings } from '../settings.ts';
import type { AnswerCache } from './answer-cache.ts';
import type { EtcdClusterObject } from './cluster-object.ts';
import { domainOf } from './stateful-set.ts';

export interface ContextOptions {
  readonly client: ApiClient;
  readonly paths: Paths;
  readonly namespace: string;
  /** Of the EtcdCluster. */
  readonly name: string;
  readonly settings: Settings;
  readonly events: Events;
  readonly clientTls: ClientTls;
  readonly troubles: Troubles;
  readonly log: Pick<Log, 'info' | 'warn' | 'error' | 'debug'>;
  readonly look: AnswerCache;
}

/** What the parts of one cluster's port share: who it is, and what was last seen of it. */
export class ClusterContext {
  readonly client: ApiClient;
  readonly paths: Paths;
  readonly namespace: string;
  readonly name: string;
  readonly settings: Settings;
  readonly log: ContextOptions['log'];
  readonly look: AnswerCache;
  readonly troubles: Troubles;
  readonly #options: ContextOptions;
  #cluster: EtcdClusterObject | undefined;
  #template: PodTemplate | undefined;
  #domain: string | undefined;
  #hasNoTemplate = false;

  constructor(options: ContextOptions) {
    this.#options = options;
    this.client = options.client;
    this.paths = options.paths;
    this.namespace = options.namespace;
    this.name = options.name;
    this.settings = options.settings;
    this.log = options.log;
    this.look = options.look;
    this.troubles = options.troubles;
  }

  get cluster(): EtcdClusterObject | undefined {
    return this.#cluster;
  }

  /** Of the StatefulSet, as it was read for what is being done. */
  get template(): PodTemplate | undefined {
    return this.#template;
  }

  /** Undefined until a StatefulSet was read, whose pods say it. */
  get domain(): string | undefined {
    return this.#domain;
  }

  seenCluster(cluster: EtcdClusterObject | undefined): void {
    if (cluster) this.#cluster = cluster;
  }

  /** There is no StatefulSet, which is not the same as that none was read yet. */
  get hasNoTemplate(): boolean {
    return this.#hasNoTemplate;
  }

  /** undefined: there is no StatefulSet. */
  seenTemplate(template: PodTemplate | undefined): void {
    this.#hasNoTemplate = template === undefined;
    if (!template) return;
    this.#template = template;
    this.#domain = domainOf(template);
  }

  /** Nothing is done: what it takes for that is read again before. */
  rest(): void {
    this.#template = undefined;
  }

  peerName(ordinal: number): string {
    return `${this.name}-${ordinal}.${this.name}-peers.${this.namespace}.svc.${this.domain}`;
  }

  /** Of a member, by its address. */
  urlOf(address: string, port: number): string {
    const host = address.includes(':') ? `[${address}]` : address;
    return `${this.#cluster?.spec.tls ? 'https' : 'http'}://${host}:${port}`;
  }

  /** undefined without TLS. */
  async tls(): Promise<ClientMaterial | undefined> {
    const { tls, clientTlsSecret } = this.#cluster?.spec ?? {};
    if (!tls || clientTlsSecret === undefined) return undefined;
    return this.#options.clientTls.material(clientTlsSecret, `${this.name}.${this.namespace}.svc`);
  }

  /** As an Event of the EtcdCluster, or of another resource of ours. */
  tell(
    type: EventOf['type'],
    reason: string,
    message: string,
    about: { readonly kind: string; readonly name: string; readonly uid: string } | undefined = this.#itself(),
  ): void {
    if (!about) return;
    const subject = { apiVersion: groupVersion, ...about, namespace: this.namespace };
    this.#options.events.emit(subject, { type, reason, message });
  }

  #itself() {
    const uid = this.#cluster?.metadata.uid;
    return uid === undefined ? undefined : { kind: 'EtcdCluster', name: this.name, uid };
  }
}
