import type { ApiClient } from '../kube/api-client.ts';
import { isStatus } from '../kube/api-error.ts';
import type { Paths } from '../kube/paths.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';

export interface GoingOptions {
  readonly client: ApiClient;
  readonly paths: Paths;
  /** The Deployment that this reconciler is of; undefined outside of one. */
  readonly deployment?: string | undefined;
  readonly log: Pick<Log, 'warn'>;
}

type Answer = 'there' | 'deleting' | 'gone' | 'hidden';

/** Whether the reconciler itself goes, or its namespace: nobody will be there to do what a finalizer waits for. */
export class Going {
  readonly #options: GoingOptions;
  readonly #said = new Set<string>();
  /** Its own Deployment was there: only so its absence means something. */
  #hadDeployment = false;
  #ending = false;

  constructor(options: GoingOptions) {
    this.#options = options;
  }

  /** This process was told to end. */
  ends(): void {
    this.#ending = true;
  }

  get ending(): boolean {
    return this.#ending;
  }

  async namespace(): Promise<boolean> {
    const answer = await this.#look(this.#options.paths.namespace);
    return answer === 'deleting' || answer === 'gone';
  }

  async own(): Promise<boolean> {
    const { deployment, paths } = this.#options;
    if (deployment === undefined) return false;
    const answer = await this.#look(paths.of('deployments', deployment));
    if (answer === 'there') this.#hadDeployment = true;
    if (answer === 'gone' && !this.#hadDeployment) {
      this.#say(
        `--deployment: there is no Deployment ${deployment} here, so that nobody knows when this one is removed`,
      );
    }
    // Told to end, and its Role is gone since it began: all of it is being removed, the Role before the Deployment.
    const removed = answer === 'gone' || (answer === 'hidden' && this.#ending);
    return answer === 'deleting' || (this.#hadDeployment && removed);
  }

  async #look(path: string): Promise<Answer> {
    try {
      const { metadata } = await this.#options.client.get(path);
      return metadata.deletionTimestamp === undefined ? 'there' : 'deleting';
    } catch (error) {
      if (isStatus(error, 404)) return 'gone';
      if (!isStatus(error, 403)) throw error;
      this.#say(messageOf(error));
      return 'hidden';
    }
  }

  #say(complaint: string): void {
    if (!this.#said.has(complaint)) this.#options.log.warn(complaint);
    this.#said.add(complaint);
  }
}
