import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Manifest } from '../../synth';
import { container, podSpec } from './manifests';
import type { Namespace } from './namespace';
import { agentImage } from './settings';

const root = join(__dirname, '../../..');

/** How it went so far. Times are of the client's own clock, in ms. */
export interface Facts {
  readonly now: number;
  /** Acknowledged writes. */
  readonly written: number;
  /** The longest time without an acknowledged write. */
  readonly longestGap: number;
  /** Writes that were tried for a second in vain. */
  readonly failed: readonly string[];
  /** Writes that do not count as such, as the machine was too busy. */
  readonly starved: number;
  readonly elections: number;
  /** In the order in which they answered. */
  readonly clusterIds: readonly string[];
  /** Each time a watch learned that its revision is compacted. */
  readonly compacted: readonly object[];
}

/** A restore: what this cluster acknowledged after the revision of the snapshot is not in the next one. */
export interface Loss {
  readonly clusterId: string;
  readonly revision: number;
}

export interface Verdict {
  readonly clusterIds: readonly string[];
  readonly written: number;
  /** Of acknowledged writes, of reads, and of what the watch brought. */
  readonly wrong: readonly string[];
}

export interface ClientOptions {
  readonly endpoints: readonly string[];
  /** With `ca.crt`, `tls.crt` and `tls.key`. */
  readonly tlsSecret?: string | undefined;
  /** Its node may go off and come back: it goes on with what it remembers. */
  readonly outlivesNode?: boolean | undefined;
  /** Of its pod. Default: none. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** A pod that writes to a cluster and watches it without a break, with its own clock and away from kubectl. */
export class Client {
  static async start(namespace: Namespace, cluster: string, options: ClientOptions): Promise<Client> {
    const name = `${cluster}-client`;
    const program = await bundle();
    await namespace.apply([
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { 'client.mjs': program } },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: options.labels }, spec: pod(name, options) },
    ]);
    await namespace.kubectl(['wait', '--for=condition=Ready', '--timeout=120s', `pod/${name}`]);
    return new Client(namespace, name);
  }

  readonly #namespace: Namespace;
  readonly #pod: string;

  private constructor(namespace: Namespace, pod: string) {
    this.#namespace = namespace;
    this.#pod = pod;
  }

  facts(since = 0): Promise<Facts> {
    return this.#get(`facts?since=${since}`);
  }

  /** It ends here. Every acknowledged write must be with each of so many voters. */
  judge(voters: number, losses: readonly Loss[] = []): Promise<Verdict> {
    return this.#get(`judge?voters=${voters}&losses=${encodeURIComponent(JSON.stringify(losses))}`);
  }

  async #get<T>(path: string): Promise<T> {
    const proxy = `/api/v1/namespaces/${this.#namespace.name}/pods/http:${this.#pod}:8080/proxy/${path}`;
    const { stdout } = await this.#namespace.kubectl(['get', '--raw', proxy]);
    return JSON.parse(stdout);
  }
}

async function bundle(): Promise<string> {
  const program = join(root, 'agent/test/local/pods/client-bundle.mts');
  const { stdout } = await promisify(execFile)(process.execPath, [program], { maxBuffer: 1024 ** 2 });
  return stdout;
}

function pod(name: string, { endpoints, tlsSecret, outlivesNode = false }: ClientOptions): Manifest {
  const tls = { ca: '/tls/ca.crt', client: { cert: '/tls/tls.crt', key: '/tls/tls.key' } };
  const target = { endpoints, ...(tlsSecret && { tls }) };
  // The container then waits for the keys.
  const items = ['ca.crt', 'tls.crt', 'tls.key'].map((key) => ({ key, path: key }));
  return podSpec({
    restartPolicy: outlivesNode ? 'Always' : 'Never',
    automountServiceAccountToken: false,
    containers: [
      container('client', agentImage, {
        command: ['node', '/client/client.mjs'],
        env: [
          { name: 'CLIENT_TARGET', value: JSON.stringify(target) },
          ...(outlivesNode ? [{ name: 'CLIENT_JOURNAL', value: '/journal/history' }] : []),
        ],
        readinessProbe: { httpGet: { path: '/facts', port: 8080 }, periodSeconds: 1 },
        volumeMounts: [
          { name: 'client', mountPath: '/client' },
          { name: 'journal', mountPath: '/journal' },
          ...(tlsSecret ? [{ name: 'tls', mountPath: '/tls', readOnly: true }] : []),
        ],
      }),
    ],
    volumes: [
      { name: 'client', configMap: { name } },
      { name: 'journal', emptyDir: {} },
      ...(tlsSecret ? [{ name: 'tls', secret: { secretName: tlsSecret, items } }] : []),
    ],
  });
}
