import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Manifest } from '../../synth';
import { kubectlProxy } from '../support/kubectl';
import type { Namespace } from '../support/namespace';
import { forms, leaks, type Needle, needlesOf, type Seen } from './leaks';

/** Everything that is readable without the right to read Secrets. */
const watched = [
  ...['configmaps', 'events', 'persistentvolumeclaims', 'pods', 'serviceaccounts', 'services'].map(core),
  ...['deployments', 'statefulsets'].map((plural) => `/apis/apps/v1/namespaces/NS/${plural}`),
  ...['cronjobs', 'jobs'].map((plural) => `/apis/batch/v1/namespaces/NS/${plural}`),
  ...['etcdbackups', 'etcdclusters', 'etcdrestores', 'etcdusers'].map(
    (plural) => `/apis/cdk8s-etcd.dev/v1alpha1/namespaces/NS/${plural}`,
  ),
  '/apis/coordination.k8s.io/v1/namespaces/NS/leases',
];

function core(plural: string): string {
  return `/api/v1/namespaces/NS/${plural}`;
}

/** Tokens in a record that protect a snapshot of a Job or a gate. */
function tokensOf(configMap: Manifest): string[] {
  const text = configMap.data?.['record.json'];
  if (!text) return [];
  const { op, permits = {} }: Manifest = JSON.parse(text);
  const guards = Object.values<Manifest>(permits).flatMap(({ restore, salvage }) => [
    restore?.source.token,
    salvage?.token,
  ]);
  return [op?.args?.sourceToken, op?.args?.salvageToken, ...guards].filter(Boolean);
}

/**
 * Records everything visible in a namespace from now on: every version of every object except Secrets, and the logs of
 * all containers, including those that end. It continues after an outage of the API server.
 */
export class Recording {
  static async begin(namespace: Namespace): Promise<Recording> {
    const { proxy, url } = await kubectlProxy();
    return new Recording(namespace, proxy, url);
  }

  readonly #namespace: Namespace;
  readonly #proxy: ChildProcess;
  readonly #url: string;
  readonly #ended = new AbortController();
  readonly #streams: Promise<void>[] = [];
  /** Texts by their location. */
  readonly #seen = new Map<string, Set<string>>();
  readonly #needles = new Map<string, Needle>();
  readonly #logs = new Set<string>();

  private constructor(namespace: Namespace, proxy: ChildProcess, url: string) {
    this.#namespace = namespace;
    this.#proxy = proxy;
    this.#url = url;
    for (const path of watched) this.#watch(path, (object) => this.#object(object));
    this.#watch(core('secrets'), ({ metadata, data }) => this.#keep(needlesOf(metadata.name, data)));
  }

  /** Ends the recording, and returns each place with a secret. `more` are further texts, such as those of a store. */
  async leaks(more: Readonly<Record<string, string>> = {}): Promise<string[]> {
    // The last writes are still in transit.
    await sleep(2_000);
    await this.end();
    const seen: Seen[] = [...this.#seen].map(([where, texts]) => ({ where, text: [...texts].join('\n') }));
    const others = Object.entries(more).map(([where, text]) => ({ where, text }));
    for (const what of ['ConfigMap', 'Pod', 'Event', 'log of'])
      if (!seen.some(({ where }) => where.startsWith(what))) throw new Error(`nothing was recorded of a ${what}`);
    if (this.#needles.size === 0) throw new Error('there was no Secret to look for');
    return leaks([...seen, ...others], [...this.#needles.values()]);
  }

  /** Describes the amount of text that was searched. */
  get size(): string {
    const bytes = [...this.#seen.values()].flatMap((texts) => [...texts]).reduce((sum, { length }) => sum + length, 0);
    return `${this.#seen.size} objects and logs, ${(bytes / 2 ** 20).toFixed(1)} MiB, ${this.#needles.size} forms of secrets`;
  }

  async end(): Promise<void> {
    this.#ended.abort();
    this.#proxy.kill();
    await Promise.all(this.#streams);
  }

  #keep(needles: readonly Needle[]): void {
    for (const needle of needles) this.#needles.set(needle.value, needle);
  }

  #see(where: string, text: string): void {
    const texts = this.#seen.get(where) ?? new Set();
    this.#seen.set(where, texts.add(text));
  }

  #object(object: Manifest): void {
    const { kind, metadata } = object;
    this.#see(`${kind} ${metadata.name}`, JSON.stringify(object));
    if (kind === 'ConfigMap')
      for (const token of tokensOf(object)) this.#keep(forms(`a token of the record ${metadata.name}`, token));
    if (kind === 'Pod') this.#follow(object);
  }

  /** The log of each container, each time that it starts. */
  #follow({ metadata, status = {} }: Manifest): void {
    for (const { name, restartCount, state } of [
      ...(status.initContainerStatuses ?? []),
      ...(status.containerStatuses ?? []),
    ]) {
      const id = `${metadata.uid}/${name}/${restartCount}`;
      if (state.waiting || this.#logs.has(id)) continue;
      this.#logs.add(id);
      const path = `${core('pods')}/${metadata.name}/log?container=${name}&follow=true`;
      const see = (line: string) => this.#see(`log of ${metadata.name}/${name}`, line);
      // A log that breaks off is read again when the pod changes.
      const read = this.#lines(path, see).then((whole) => void (whole || this.#logs.delete(id)));
      this.#streams.push(read);
    }
  }

  #watch(path: string, each: (object: Manifest) => void): void {
    const follow = async () => {
      while (!this.#ended.signal.aborted) {
        await this.#lines(`${path}?watch=true`, (line) => {
          const { type, object } = JSON.parse(line);
          if (type !== 'ERROR') each(object);
        });
        // The watch begins with all existing objects.
        await sleep(1_000, undefined, { signal: this.#ended.signal }).catch(() => {});
      }
    };
    this.#streams.push(follow());
  }

  /** Reads until the answer or the recording ends. Returns false if the answer broke off. */
  async #lines(path: string, each: (line: string) => void): Promise<boolean> {
    const url = `${this.#url}${path.replace('NS', this.#namespace.name)}`;
    let rest = '';
    try {
      const { ok, body } = await fetch(url, { signal: this.#ended.signal });
      if (!ok || !body) return false;
      for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (line) each(line);
      }
      if (rest && !path.includes('watch=')) each(rest);
      return true;
    } catch {
      // The API server is down, or the recording has ended.
      return false;
    }
  }
}
