import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { BackupStore, S3Credentials, SftpCredentials } from '../../src';
import { secret } from '../e2e/support/manifests';
import type { Manifest } from '../synth';
import { hostAddress } from './nodes';

const program = join(__dirname, '../../agent/test/local/store-server.mts');
const bucket = 'etcd-backup';

interface Facts {
  readonly endpoint: string;
  readonly directory: string;
  readonly credentials: Readonly<Record<string, string>>;
}

/** A real server on this machine, for which no Kubernetes has to be up. It ends with this process. */
export class StoreServer {
  static async start(kind: 'sshd' | 'legacy-sshd' | 's3'): Promise<StoreServer> {
    const child = spawn(process.execPath, [program, kind, await hostAddress()], { stdio: ['pipe', 'pipe', 'inherit'] });
    for await (const line of createInterface(child.stdout)) return new StoreServer(kind, child, JSON.parse(line));
    throw new Error(`${kind} did not start`);
  }

  readonly host: string;
  readonly port: number;
  /** A Secret's, as text. */
  readonly credentials: Readonly<Record<string, string>>;
  private readonly root: string;

  private constructor(
    private readonly kind: string,
    private readonly child: ChildProcess,
    { endpoint, directory, credentials }: Facts,
  ) {
    const { hostname, port } = new URL(endpoint);
    this.host = hostname;
    this.port = Number(port);
    this.credentials = credentials;
    this.root = kind === 's3' ? join(directory, bucket) : directory;
  }

  /** With all that logs in, or these keys alone. */
  secret(name: string, ...keys: string[]): Manifest {
    const chosen = Object.entries(this.credentials).filter(([key]) => keys.length === 0 || keys.includes(key));
    return secret(name, Object.fromEntries(chosen));
  }

  /** A folder of it, as the backups see it. */
  store(folder: string, secretName: string): BackupStore {
    const { host, port } = this;
    if (this.kind === 's3') {
      const credentials = S3Credentials.fromSecret(secretName);
      return BackupStore.s3({ endpoint: `http://${host}:${port}`, bucket, prefix: folder, credentials });
    }
    return BackupStore.sftp({
      ...{ host, port, path: this.folder(folder), credentials: SftpCredentials.fromSecret(secretName) },
      ...(this.kind === 'legacy-sshd' && { legacyAlgorithms: true }),
    });
  }

  /** The same folder on this machine. */
  folder(folder: string): string {
    return join(this.root, folder);
  }

  /** Every file of a folder, sorted. */
  async files(folder: string): Promise<string[]> {
    const entries = await readdir(this.folder(folder), { recursive: true, withFileTypes: true });
    const within = this.folder(folder).length + 1;
    const files = entries.filter((entry) => entry.isFile());
    return files.map(({ parentPath, name }) => join(parentPath, name).slice(within)).sort();
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.stdin?.end();
    await exited;
  }
}
