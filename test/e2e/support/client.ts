import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Manifest } from '../../synth';
import { container, podSpec } from './manifests';
import type { Namespace } from './namespace';
import { agentImage } from './settings';

const root = join(__dirname, '../../..');

/** Results so far. Times are from the client's clock, in ms. */
export interface Facts {
  readonly now: number;
  /** Acknowledged writes. */
  readonly written: number;
  /** The longest time without an acknowledged write. */
  readonly longestGap: number;
  /** Writes that failed for a whole second. */
  readonly failed: readonly string[];
  /** Missed writes that do not count, because the machine was too busy. */
  readonly starved: number;
  readonly elections: number;
  /** Cluster ids in the order in which they answered. */
  readonly clusterIds: readonly string[];
  /** Each time a watch learned that its revision is compacted. */
  readonly compacted: readonly object[];
}

/** A restore: writes that this cluster acknowledged after the revision of the snapshot are missing in the next one. */
export interface Loss {
  readonly clusterId: string;
  readonly revision: number;
}

export interface Verdict {
  readonly clusterIds: readonly string[];
  readonly written: number;
  /** What is wrong with acknowledged writes, reads and watch events. */
  readonly wrong: readonly string[];
}

export interface ClientOptions {
  readonly endpoints: readonly string[];
  /** With `ca.crt`, `tls.crt` and `tls.key`. */
  readonly tlsSecret?: string | undefined;
  /** That Secret may come later. */
  readonly isTlsOptional?: boolean | undefined;
  /** The same of root, for the verdict. Default: `tlsSecret`. */
  readonly rootTlsSecret?: string | undefined;
  /** Its node may fail and return: the client continues with its journal. */
  readonly outlivesNode?: boolean | undefined;
  /** Labels of its pod. Default: none. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** A pod that writes to a cluster and watches it continuously, with its own clock and independent of kubectl. */
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

  /** Ends the client. Each of this number of voters must have every acknowledged write. */
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

function pod(name: string, options: ClientOptions): Manifest {
  const { endpoints, tlsSecret, isTlsOptional = false, rootTlsSecret, outlivesNode = false } = options;
  const target = { endpoints, ...(tlsSecret && { tls: tlsOf('tls') }) };
  return podSpec({
    restartPolicy: outlivesNode ? 'Always' : 'Never',
    automountServiceAccountToken: false,
    containers: [
      container('client', agentImage, {
        command: ['node', '/client/client.mjs'],
        env: [
          { name: 'CLIENT_TARGET', value: JSON.stringify(target) },
          ...(rootTlsSecret ? [{ name: 'CLIENT_ROOT', value: JSON.stringify(tlsOf('root-tls')) }] : []),
          ...(outlivesNode ? [{ name: 'CLIENT_JOURNAL', value: '/journal/history' }] : []),
        ],
        readinessProbe: { httpGet: { path: '/facts', port: 8080 }, periodSeconds: 1 },
        volumeMounts: [
          { name: 'client', mountPath: '/client' },
          { name: 'journal', mountPath: '/journal' },
          ...(tlsSecret ? [tlsMount('tls')] : []),
          ...(rootTlsSecret ? [tlsMount('root-tls')] : []),
        ],
      }),
    ],
    volumes: [
      { name: 'client', configMap: { name } },
      { name: 'journal', emptyDir: {} },
      ...(tlsSecret ? [isTlsOptional ? optional('tls', tlsSecret) : tlsVolume('tls', tlsSecret)] : []),
      ...(rootTlsSecret ? [tlsVolume('root-tls', rootTlsSecret)] : []),
    ],
  });
}

const tlsOf = (volume: string) => ({
  ca: `/${volume}/ca.crt`,
  client: { cert: `/${volume}/tls.crt`, key: `/${volume}/tls.key` },
});
const tlsMount = (name: string) => ({ name, mountPath: `/${name}`, readOnly: true });
/** The container waits until the Secret has these keys. */
const tlsVolume = (name: string, secretName: string) => ({
  name,
  secret: { secretName, items: ['ca.crt', 'tls.crt', 'tls.key'].map((key) => ({ key, path: key })) },
});
const optional = (name: string, secretName: string) => ({ name, secret: { secretName, optional: true } });
