import { createHash, randomBytes } from 'node:crypto';
import type { Manifest } from '../../synth';
import { Authority } from './certificates';
import { container, headlessService, podSpec, statefulSet } from './manifests';
import type { Namespace } from './namespace';

const image = 'gcr.io/etcd-development/etcd:v3.6.16';
const serverSecret = 'etcd-server';
const tlsFlags = [
  '--client-cert-auth',
  '--trusted-ca-file=/tls/ca.crt',
  '--cert-file=/tls/tls.crt',
  '--key-file=/tls/tls.key',
];

export interface EtcdOptions {
  readonly size: 1 | 3;
  /** TLS with client certificates. The client's certificate is written into this Secret. */
  readonly clientSecret?: string;
  /** Volume with the data, whose `data-dir` is the data directory. Default: deleted with the pod. */
  readonly dataVolume?: object;
}

/** An etcd without any part of this project: a StatefulSet `etcd` with client URLs at etcd-N.etcd:2379. */
export class Etcd {
  static async start(namespace: Namespace, options: EtcdOptions): Promise<Etcd> {
    const { size, clientSecret } = options;
    if (clientSecret) {
      const authority = await Authority.create();
      const hosts = ['localhost', ...memberNames(size).map((name) => `${name}.etcd`), `*.etcd.${namespace.name}.svc`];
      await namespace.apply([await authority.secret(serverSecret, hosts), await authority.secret(clientSecret)]);
    }
    await namespace.apply([headlessService('etcd', 2379), statefulSet('etcd', size, pod(options))]);
    await namespace.ready('statefulset', 'etcd');
    return new Etcd(namespace);
  }

  private constructor(private readonly namespace: Namespace) {}

  async etcdctl(args: readonly string[], input = ''): Promise<string> {
    const { stdout } = await this.namespace.kubectl(['exec', '-i', 'etcd-0', '--', 'etcdctl', ...args], input);
    return stdout;
  }

  /** Writes this many MiB of values that do not compress well, under keys that begin with `prefix`. */
  async fill(prefix: string, mebibytes: number): Promise<void> {
    let next = 0;
    const writer = async () => {
      while (next < mebibytes) await this.etcdctl(['txn'], transaction(`${prefix}/${next++}`));
    };
    await Promise.all([writer(), writer(), writer()]);
  }

  /** Returns a checksum of all keys and values. `kubectl exec` may lose the end of an output, so it is read until it is whole. */
  async digest(attempts = 3): Promise<string> {
    const text = await this.etcdctl(['get', '--prefix', '', '-w', 'json']);
    try {
      const { kvs = [], count } = JSON.parse(text);
      const pairs = kvs.map(({ key, value }: { key: string; value: string }) => [key, value]);
      if (pairs.length !== (count ?? 0)) throw new Error(`${pairs.length} keys of ${count}`);
      return createHash('sha256').update(JSON.stringify(pairs)).digest('hex');
    } catch (error) {
      if (attempts > 1) return this.digest(attempts - 1);
      throw error;
    }
  }

  async dbSize(): Promise<number> {
    return (await this.status()).dbSize;
  }

  async revision(): Promise<number> {
    return (await this.status()).header.revision;
  }

  private async status(): Promise<{ readonly dbSize: number; readonly header: { readonly revision: number } }> {
    const [{ Status }] = JSON.parse(await this.etcdctl(['endpoint', 'status', '-w', 'json']));
    return Status;
  }
}

const memberNames = (size: number) => Array.from({ length: size }, (_, ordinal) => `etcd-${ordinal}`);

function pod({ size, clientSecret, dataVolume }: EtcdOptions): Manifest {
  const scheme = clientSecret ? 'https' : 'http';
  const peerUrl = (name: string) => `http://${name}.etcd.$(NAMESPACE).svc:2380`;
  const args = [
    '--name=$(NAME)',
    '--data-dir=/data/data-dir',
    `--listen-client-urls=${scheme}://0.0.0.0:2379`,
    `--advertise-client-urls=${scheme}://$(NAME).etcd.$(NAMESPACE).svc:2379`,
    '--listen-peer-urls=http://0.0.0.0:2380',
    `--initial-advertise-peer-urls=${peerUrl('$(NAME)')}`,
    `--initial-cluster=${memberNames(size)
      .map((name) => `${name}=${peerUrl(name)}`)
      .join(',')}`,
    '--listen-metrics-urls=http://0.0.0.0:2381',
    ...(clientSecret ? tlsFlags : []),
  ];
  return podSpec({
    containers: [
      container('etcd', image, {
        command: ['/usr/local/bin/etcd', ...args],
        env: [
          fieldVariable('NAME', 'metadata.name'),
          fieldVariable('NAMESPACE', 'metadata.namespace'),
          { name: 'ETCDCTL_ENDPOINTS', value: `${scheme}://localhost:2379` },
          ...(clientSecret ? etcdctlFiles : []),
        ],
        readinessProbe: { httpGet: { path: '/readyz', port: 2381 }, periodSeconds: 1 },
        volumeMounts: [
          { name: 'data', mountPath: '/data' },
          ...(clientSecret ? [{ name: 'tls', mountPath: '/tls', readOnly: true }] : []),
        ],
      }),
    ],
    volumes: [
      { name: 'data', ...(dataVolume ?? { emptyDir: {} }) },
      ...(clientSecret ? [{ name: 'tls', secret: { secretName: serverSecret } }] : []),
    ],
  });
}

const etcdctlFiles = [
  { name: 'ETCDCTL_CACERT', value: '/tls/ca.crt' },
  { name: 'ETCDCTL_CERT', value: '/tls/tls.crt' },
  { name: 'ETCDCTL_KEY', value: '/tls/tls.key' },
];

function fieldVariable(name: string, fieldPath: string): object {
  return { name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } };
}

/** Input for `etcdctl txn`: no conditions, a hundred puts of 1 MiB in total, and nothing otherwise. */
function transaction(prefix: string): string {
  const value = () => randomBytes(7_864).toString('base64');
  const puts = Array.from({ length: 100 }, (_, index) => `put ${prefix}/${index} ${value()}`);
  return `\n${puts.join('\n')}\n\n\n`;
}
