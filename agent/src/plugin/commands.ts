import { quoted } from '../lib/quoted.ts';

/** Commands that are printed for the reader: for the same namespace and API server, whatever the current context is by then. */
export class Commands {
  readonly #namespace: string;
  readonly #flags: readonly string[];

  constructor(namespace: string, flags: readonly string[]) {
    this.#namespace = namespace;
    this.#flags = flags;
  }

  /** Of kubectl. */
  kubectl(words: string): string {
    return this.#join(['kubectl', ...this.#flags.map(quoted)], words);
  }

  /** Of this plugin, before whose name kubectl takes no flags. */
  etcd(words: string): string {
    return this.#join(['kubectl etcd'], words, this.#flags.map(quoted));
  }

  #join(before: readonly string[], words: string, after: readonly string[] = []): string {
    const namespace = /(^| )-A( |$)/.test(words) ? [] : ['-n', quoted(this.#namespace)];
    return [...before, words, ...namespace, ...after].join(' ');
  }
}
