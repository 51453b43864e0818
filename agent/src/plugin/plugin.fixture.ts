import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Duplex, PassThrough } from 'node:stream';
import { FakeApi, failure } from '../controllers/kubernetes/fake-api.fixture.ts';
import '../kube/kube-config-access.ts'; // Loaded before the first test, because loading takes long.
import { Paths } from '../kube/paths.ts';
import type { ClusterStatus, ReportedCondition } from '../protocol/cluster-status.ts';
import { run } from './run.ts';

export const paths = new Paths('shop');

export interface Ended {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

export interface Circumstances {
  /** Answers of a person at a terminal. Without them, standard input is none. */
  readonly answers?: readonly string[];
  readonly isTTY?: boolean;
  readonly signal?: AbortSignal;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * The plugin against an API server over HTTP. It abstracts from: authentication, RBAC (`forbid` refuses whole resources
 * as RBAC would), the schemas of the custom resources, and the reconciler, whose status the tests write.
 */
export class PluginTest implements AsyncDisposable {
  readonly api: FakeApi;
  readonly #directory: string;
  /** By the path of the request. */
  readonly texts = new Map<string, string>();
  readonly #forbidden = new Set<string>();
  readonly #failing = new Set<string>();
  readonly #silent = new Set<string>();

  private constructor(api: FakeApi, directory: string) {
    this.api = api;
    this.#directory = directory;
    api.fault = (_, response, path) => {
      const isIn = (resources: ReadonlySet<string>) => path.split('/').some((each) => resources.has(each));
      const resource = [...this.#forbidden].find((each) => path.split('/').includes(each));
      if (resource !== undefined) {
        failure(response, 403, 'Forbidden', `${resource} is forbidden: User "ann" cannot read resource "${resource}"`);
        return true;
      }
      if (isIn(this.#failing)) {
        failure(response, 500, 'InternalError', 'etcdserver: request timed out');
        return true;
      }
      if (isIn(this.#silent)) {
        response.writeHead(200, { 'content-type': 'text/plain' }).write('2026-11-26T10:00:00Z a first line\n');
        return true;
      }
      const text = this.texts.get(path);
      if (text !== undefined) response.writeHead(200, { 'content-type': 'text/plain' }).end(text);
      return text !== undefined;
    };
  }

  static async start(): Promise<PluginTest> {
    return new PluginTest(await FakeApi.listen(), await mkdtemp(join(tmpdir(), 'kubectl-etcd-')));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true });
    await this.api[Symbol.asyncDispose]();
  }

  forbid(...resources: string[]): void {
    for (const resource of resources) this.#forbidden.add(resource);
  }

  /** The API server answers such requests with 500. */
  fail(...resources: string[]): void {
    for (const resource of resources) this.#failing.add(resource);
  }

  /** The API server begins such answers, and never ends them. */
  silence(...resources: string[]): void {
    for (const resource of resources) this.#silent.add(resource);
  }

  async kubeconfig(server: string = this.api.access.server.origin): Promise<string> {
    const file = join(this.#directory, 'config');
    const config = {
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'ann', namespace: 'shop' } }],
      clusters: [{ name: 'test', cluster: { server } }],
      users: [{ name: 'ann', user: { token: 'token-of-ann' } }],
    };
    await writeFile(file, JSON.stringify(config));
    return file;
  }

  async run(args: string, circumstances: Circumstances = {}): Promise<Ended> {
    const words = args.split(' ').filter(Boolean);
    return this.runWords(
      [...words.slice(0, 1), `--kubeconfig=${await this.kubeconfig()}`, ...words.slice(1)],
      circumstances,
    );
  }

  async runWords(
    words: readonly string[],
    { answers, isTTY = false, signal, env = {} }: Circumstances = {},
  ): Promise<Ended> {
    const [stdout, stderr] = [sink(isTTY), sink(isTTY)];
    const exit = await run(words, {
      stdout: stdout.stream,
      stderr: stderr.stream,
      stdin: answers ? person(answers) : new PassThrough(),
      env,
      signal: signal ?? new AbortController().signal,
    });
    return { exit, out: stdout.text(), err: stderr.text() };
  }

  putCluster(name: string, status: Partial<ClusterStatus> = {}, spec: object = {}): void {
    this.api.put(paths.of('etcdclusters', name), {
      apiVersion: 'cdk8s-etcd.dev/v1alpha1',
      kind: 'EtcdCluster',
      spec: { size: 3, version: '3.6.16', ...spec },
      status: { ...healthy(name), ...status },
    });
  }
}

export const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();

export const condition = (
  type: ReportedCondition['type'],
  status: ReportedCondition['status'],
  reason: ReportedCondition['reason'],
  message: string,
): ReportedCondition => ({ type, status, reason, message, lastTransitionTime: ago(60) });

/** Status of a cluster of three that serves. */
const healthy = (name: string): Partial<ClusterStatus> => ({
  phase: 'Ready',
  reason: 'UpToDate',
  message: 'size, version and template match the spec, and every member is healthy',
  voters: 3,
  readyVoters: 3,
  version: '3.6.16',
  leader: `${name}-0`,
  observedAt: ago(12),
  members: [0, 1, 2].map((ordinal) => ({
    ordinal,
    pod: `${name}-${ordinal}`,
    memberId: `a${ordinal}`,
    role: ordinal === 0 ? 'Leader' : 'Follower',
    version: '3.6.16',
    healthy: true,
    dbSize: 25 * 1024 * 1024,
    lag: 0,
  })),
  lastBackup: { id: '20261126T140000Z-1', at: ago(1400), schedule: 'hourly', revision: 1234, sizeBytes: 26_214_400 },
  certificates: [{ secret: `${name}-server-tls`, notAfter: ago(-90.5 * 86_400), renewAt: ago(-60.5 * 86_400) }],
  conditions: [condition('Available', 'True', 'Serving', 'a quorum answers')],
});

function sink(isTTY: boolean) {
  const chunks: Buffer[] = [];
  const stream = new PassThrough().on('data', (chunk) => chunks.push(chunk));
  return {
    stream: Object.assign(stream, { isTTY, columns: 80 }),
    text: () => Buffer.concat(chunks).toString(),
  };
}

/** Answers each question in turn. */
function person(answers: readonly string[]) {
  const stream = new PassThrough();
  for (const answer of answers) stream.write(`${answer}\n`);
  return Object.assign(stream as Duplex, { isTTY: true });
}
