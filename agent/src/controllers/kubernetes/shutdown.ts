import type { ApiClient } from '../../kube/api-client.ts';
import { isStatus } from '../../kube/api-error.ts';
import type { Paths } from '../../kube/paths.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';

export interface ShutdownOptions {
  readonly client: ApiClient;
  readonly paths: Paths;
  /** Deployment of this reconciler. Undefined outside of Kubernetes. */
  readonly deployment?: string | undefined;
  readonly log: Pick<Log, 'warn'>;
}

type Answer = 'there' | 'deleting' | 'gone' | 'hidden';

/**
 * Detects that the reconciler or its namespace is being deleted. Then no reconciler will be left to do the work for
 * which a finalizer keeps a cluster.
 */
export class Shutdown {
  readonly #options: ShutdownOptions;
  readonly #warned = new Set<string>();
  /** True once the Deployment has been seen: only then its absence means deletion. */
  #hadDeployment = false;
  #ending = false;

  constructor(options: ShutdownOptions) {
    this.#options = options;
  }

  /** This process has been asked to stop. */
  begin(): void {
    this.#ending = true;
  }

  get ending(): boolean {
    return this.#ending;
  }

  /** Returns true if the namespace is being deleted. */
  async namespace(): Promise<boolean> {
    const answer = await this.#check(this.#options.paths.namespace);
    return answer === 'deleting' || answer === 'gone';
  }

  /** Returns true if this reconciler is being deleted. */
  async own(): Promise<boolean> {
    const { deployment, paths } = this.#options;
    if (deployment === undefined) return false;
    const answer = await this.#check(paths.of('deployments', deployment));
    if (answer === 'there') this.#hadDeployment = true;
    if (answer === 'gone' && !this.#hadDeployment) {
      this.#warn(
        `--deployment: Deployment ${deployment} does not exist in this namespace, so this reconciler cannot detect its own removal`,
      );
    }
    // While stopping, a missing Role means that everything is being removed, the Role before the Deployment.
    const removed = answer === 'gone' || (answer === 'hidden' && this.#ending);
    return answer === 'deleting' || (this.#hadDeployment && removed);
  }

  async #check(path: string): Promise<Answer> {
    try {
      const { metadata } = await this.#options.client.get(path);
      return metadata.deletionTimestamp === undefined ? 'there' : 'deleting';
    } catch (error) {
      if (isStatus(error, 404)) return 'gone';
      if (!isStatus(error, 403)) throw error;
      this.#warn(messageOf(error));
      return 'hidden';
    }
  }

  /** Logs each message once. */
  #warn(message: string): void {
    if (!this.#warned.has(message)) this.#options.log.warn(message);
    this.#warned.add(message);
  }
}
