import { type ApiAccess, ApiClient } from '../kube/api-client.ts';
import { ApiError, isStatus } from '../kube/api-error.ts';
import { Paths } from '../kube/paths.ts';
import { oneLine } from '../lib/errors.ts';
import { Commands } from './commands.ts';
import { Exit, failureOf, PluginError, usage } from './exit.ts';
import { type ClusterObject, plural } from './objects.ts';

/** Milliseconds for one answer of the API server. */
export const patience = 15_000;

/** The API server as one run uses it. */
export class Session {
  readonly client: ApiClient;
  readonly paths: Paths;
  readonly namespace: string;
  /** Flags with which kubectl talks to the same API server, whatever its current context is by then. */
  readonly kubectlFlags: readonly string[];
  readonly commands: Commands;
  /** Where everything happens, for questions. */
  readonly where: string;
  readonly #notShown = new Set<string>();
  readonly #notRead = new Set<string>();

  constructor(access: ApiAccess, namespace: string | undefined, kubeconfig: string | undefined) {
    const { context, server } = access;
    this.kubectlFlags = Object.entries({ context, kubeconfig }).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}=${value}`],
    );
    this.namespace = namespace ?? access.namespace ?? 'default';
    this.commands = new Commands(this.namespace, this.kubectlFlags);
    const inContext = context === undefined ? '' : `, context ${context}`;
    this.where = `namespace ${this.namespace}${inContext}, server ${server.origin}`;
    // The field manager. Flux takes back what a manager whose name begins with `kubectl` wrote.
    this.client = new ApiClient(access, patience, 'etcd-plugin');
    this.paths = new Paths(this.namespace);
  }

  /** By the clock of the API server, which dates what is shown. */
  get now(): number {
    return Date.now() - (this.client.clockAhead ?? 0);
  }

  /** What the user may not read, in the order in which it was refused. */
  get notShown(): readonly string[] {
    return [...this.#notShown];
  }

  /** What the API server failed to give, each with why. */
  get notRead(): readonly string[] {
    return [...this.#notRead];
  }

  /** As `optional`, but leaves out and remembers what cannot be read for any reason. */
  async attempt<T>(what: string, read: Promise<T>): Promise<T | undefined> {
    return this.optional(what, read).catch((error) => {
      this.missed(what, error);
      return undefined;
    });
  }

  /** Remembers what could not be read. */
  missed(what: string, error: unknown): void {
    this.#notRead.add(`${what} (${oneLine(failureOf(error, this.client.server).message.split('\n')[0] ?? '')})`);
  }

  /** Leaves out what the user may not read or what does not exist. Other failures are errors. */
  async optional<T>(what: string, read: Promise<T>): Promise<T | undefined> {
    try {
      return await read;
    } catch (error) {
      if (isStatus(error, 403)) this.#notShown.add(what);
      else if (!isStatus(error, 404)) throw error;
      return undefined;
    }
  }

  /** Forgets what could not be read, for the next picture. */
  forget(): void {
    this.#notShown.clear();
    this.#notRead.clear();
  }

  /** Reads the named cluster; without a name, the only one of the namespace. */
  async cluster(name: string | undefined): Promise<ClusterObject> {
    return name === undefined ? this.#onlyCluster() : this.#named(name);
  }

  async #named(name: string): Promise<ClusterObject> {
    const read = this.client.get<ClusterObject>(this.paths.of('etcdclusters', name));
    return read.catch((error) => {
      if (!(error instanceof ApiError) || error.status !== 404 || !/"|not found$/.test(error.said)) throw error;
      throw new PluginError(
        Exit.notFound,
        `there is no EtcdCluster ${name} in the namespace ${this.namespace}; ${this.commands.etcd('list -A')} shows all`,
      );
    });
  }

  async #onlyCluster(): Promise<ClusterObject> {
    const { items } = await this.client.list<ClusterObject>(this.paths.of('etcdclusters'));
    const [only, ...others] = items;
    if (!only)
      throw new PluginError(
        Exit.notFound,
        `there is no EtcdCluster in the namespace ${this.namespace}; ${this.commands.etcd('list -A')} shows all`,
      );
    if (others.length > 0)
      throw usage(
        `the namespace ${this.namespace} has ${plural(items.length, 'EtcdCluster')}; name one: ${items.map(({ metadata }) => metadata.name).join(', ')}`,
      );
    return only;
  }
}
