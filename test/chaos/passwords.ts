import { EtcdPermission } from '../../src';
import type { MemberCluster, Parts } from '../e2e/support/member-cluster';
import type { Namespace } from '../e2e/support/namespace';

const user = 'worker';

export const addUserWithPassword = ({ cluster }: Parts): void => {
  cluster.addUser(user, { can: [EtcdPermission.readWrite('worker/')], password: true });
};

/** The password of that user: in its Secret, and in etcd. */
export class Passwords {
  readonly #namespace: Namespace;
  readonly #cluster: MemberCluster;
  readonly #secret: string;
  #calls = 0;
  #former: readonly string[] = [];

  constructor({ namespace, cluster }: { readonly namespace: Namespace; readonly cluster: MemberCluster }) {
    this.#namespace = namespace;
    this.#cluster = cluster;
    this.#secret = `${cluster.name}-user-${user}-password`;
  }

  /** Removes the password from its Secret, and waits until the user logs in with another one. */
  async lose(): Promise<void> {
    this.#former = [...this.#former, await this.#found()];
    const remove = JSON.stringify([{ op: 'remove', path: '/data/password' }]);
    await this.#namespace.kubectl(['patch', 'secret', this.#secret, '--type=json', `--patch=${remove}`]);
    await this.worksIn(300);
  }

  /** Waits until the user logs in with what its Secret has. It must not be a former password, and none of those may work. */
  async worksIn(seconds: number): Promise<void> {
    await this.#namespace.until(`the login of ${user}`, seconds, async () => {
      const password = await this.#found();
      if (password === '' || (await this.#asks(password, 'get', 'worker/a')) !== '') return undefined;
      return true;
    });
    const now = await this.#found();
    if (this.#former.includes(now)) throw new Error(`Secret ${this.#secret} has a former password again`);
    for (const former of this.#former) await this.#refused(former, 'authentication failed', 'get', 'worker/a');
    // A certificate of root is given, too: without the login this would work.
    await this.#refused(now, 'permission denied', 'get', 'w/a');
  }

  async #refused(password: string, why: string, ...args: string[]): Promise<void> {
    await this.#namespace.until(`${why} for ${user}`, 60, async () => {
      const answer = await this.#asks(password, ...args);
      if (answer === '') throw new Error(`etcd accepts ${args.join(' ')} of ${user}, instead of: ${why}`);
      return answer.includes(why) ? true : undefined;
    });
  }

  /** What etcdctl answers in one of the members, errors too. */
  #asks(password: string, ...args: string[]): Promise<string> {
    const one = this.#calls++ % 3;
    return this.#cluster.etcdctl([`--user=${user}:${password}`, ...args], one).catch(({ message }) => `${message}`);
  }

  /** Empty while there is none. */
  async #found(): Promise<string> {
    const { data } = await this.#namespace.get('secret', this.#secret);
    return Buffer.from(data?.password ?? '', 'base64').toString();
  }
}
