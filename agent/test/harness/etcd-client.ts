import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Etcd3 } from 'etcd3';
import type { TlsFiles } from './certificates.ts';
import type { EtcdBinaries } from './etcd-binaries.ts';

const execute = promisify(execFile);

export interface User {
  readonly name: string;
  readonly password: string;
}

export interface Load {
  /** The keys are `<prefix>000000`, `<prefix>000001`, …. Default `key-`. */
  readonly prefix?: string;
  /** Bytes of each value, random. Default 100. */
  readonly valueSize?: number;
}

/** Connects to a cluster with the TLS files and the user that it requires. */
export class EtcdClient {
  /** Client URLs that the members advertise. */
  readonly endpoints: readonly string[];
  readonly tls: TlsFiles | undefined;
  /** User as which `etcdctl` and `connect` log in. */
  user: User | undefined;
  readonly binaries: EtcdBinaries;

  constructor(binaries: EtcdBinaries, endpoints: readonly string[], tls: TlsFiles | undefined) {
    this.binaries = binaries;
    this.endpoints = endpoints;
    this.tls = tls;
  }

  /** Runs the etcdctl of the cluster's minor and returns its stdout. */
  async etcdctl(...args: string[]): Promise<string> {
    const { tls, user } = this;
    const flags = [`--endpoints=${this.endpoints.join()}`, '--dial-timeout=10s', '--command-timeout=60s'];
    if (tls) flags.push(`--cacert=${tls.ca}`, `--cert=${tls.client.cert}`, `--key=${tls.client.key}`);
    if (user) flags.push(`--user=${user.name}:${user.password}`);
    const env = this.binaries.minor === '3.4' ? { ETCDCTL_API: '3' } : {};
    const { stdout } = await execute(this.binaries.etcdctl, [...flags, ...args], { env, maxBuffer: 1024 ** 3 });
    return stdout;
  }

  /** An etcd3 client; the caller closes it. */
  async connect(): Promise<Etcd3> {
    const { Etcd3 } = await import('etcd3');
    const { tls, user } = this;
    return new Etcd3({
      hosts: [...this.endpoints],
      ...(user && { auth: { username: user.name, password: user.password } }),
      ...(tls && {
        credentials: {
          rootCertificate: await readFile(tls.ca),
          certChain: await readFile(tls.client.cert),
          privateKey: await readFile(tls.client.key),
        },
      }),
    });
  }

  /** Writes many keys, fast. */
  async put(count: number, { prefix = 'key-', valueSize = 100 }: Load = {}): Promise<void> {
    const client = await this.connect();
    try {
      let next = 0;
      const writer = async () => {
        while (next < count) {
          const key = prefix + String(next++).padStart(6, '0');
          await client.put(key).value(randomBytes(valueSize));
        }
      };
      await Promise.all(Array.from({ length: 64 }, writer));
    } finally {
      client.close();
    }
  }

  /** Writes until the quota is reached, which raises the alarm NOSPACE. For a quota of a few MiB. */
  async fill(): Promise<void> {
    for (let n = 0; n < 200; n++) {
      const failure = await this.put(1, { prefix: `fill-${n}-`, valueSize: 1024 * 1024 }).then(() => undefined, String);
      if (/space exceeded/.test(failure ?? '')) return;
    }
    throw new Error('the quota was not reached');
  }
}
