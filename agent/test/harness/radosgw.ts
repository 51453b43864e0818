import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CephCluster } from './ceph-cluster.ts';
import type { KeyPair } from './certificates.ts';
import { freePorts } from './free-ports.ts';
import { makeBucket, type S3Server, s3Client } from './s3-server.ts';

/** Encryption key that the server has for SSE-KMS. */
export const KMS_KEY_ID = 'kms-key-1';
const KMS_KEY = Buffer.alloc(32, 'kms').toString('base64');

/** Domain below which a bucket can be in the host name, too. */
export const DNS_NAME = 's3.localhost';

const USER = 'test';

export interface RadosgwOptions {
  readonly buckets?: readonly string[];
  /** Also listens with TLS. */
  readonly tls?: KeyPair;
}

/** Ceph's S3 server, over a Ceph of its own. */
export class Radosgw implements S3Server {
  readonly endpoint: string;
  /** With `tls` only. */
  readonly tlsEndpoint: string;
  readonly accessKeyId = 'test-access';
  readonly secretAccessKey = 'test-secret-access-key';
  readonly region = 'us-east-1';
  readonly credentialsDirectory: string;
  readonly #ceph: CephCluster;

  private constructor(ceph: CephCluster, [port, tlsPort]: number[]) {
    this.#ceph = ceph;
    this.credentialsDirectory = join(ceph.directory, 'credentials');
    this.endpoint = `http://127.0.0.1:${port}`;
    this.tlsEndpoint = `https://127.0.0.1:${tlsPort}`;
  }

  static async start({ buckets = [], tls }: RadosgwOptions = {}): Promise<Radosgw> {
    const ceph = await CephCluster.start({
      rgw_dns_name: DNS_NAME,
      rgw_crypt_require_ssl: false,
      rgw_crypt_s3_kms_backend: 'testing',
      rgw_crypt_s3_kms_encryption_keys: `${KMS_KEY_ID}=${KMS_KEY}`,
    });
    try {
      const server = new Radosgw(ceph, await freePorts(2));
      await server.#launch(tls);
      const client = s3Client(server);
      for (const bucket of buckets) await makeBucket(client, bucket);
      client.destroy();
      return server;
    } catch (error) {
      await ceph.stop();
      throw error;
    }
  }

  /** Runs radosgw-admin. */
  async admin(...args: string[]): Promise<void> {
    await this.#ceph.run('radosgw-admin', ...args);
  }

  /** Adds a key pair to the user. */
  async addKey(accessKey: string, secretKey: string): Promise<void> {
    const pair = ['--access-key', accessKey, '--secret-key', secretKey];
    await this.admin('key', 'create', '--uid', USER, '--key-type', 's3', ...pair);
  }

  async removeKey(accessKey: string): Promise<void> {
    await this.admin('key', 'rm', '--uid', USER, '--key-type', 's3', '--access-key', accessKey);
  }

  async #launch(tls: KeyPair | undefined): Promise<void> {
    await mkdir(this.credentialsDirectory);
    await writeFile(join(this.credentialsDirectory, 'AWS_ACCESS_KEY_ID'), this.accessKeyId);
    await writeFile(join(this.credentialsDirectory, 'AWS_SECRET_ACCESS_KEY'), this.secretAccessKey);
    const pair = ['--access-key', this.accessKeyId, '--secret-key', this.secretAccessKey];
    await this.admin('user', 'create', '--uid', USER, '--display-name', USER, ...pair);
    const { host } = new URL(this.endpoint);
    const secure = `ssl_endpoint=${new URL(this.tlsEndpoint).host} ssl_certificate=${tls?.cert} ssl_private_key=${tls?.key}`;
    const frontend = `beast endpoint=${host}${tls ? ` ${secure}` : ''}`;
    const server = await this.#ceph.spawn('radosgw', '-n', 'client.rgw.a', `--rgw-frontends=${frontend}`);
    await server.until(async () => (await fetch(this.endpoint)).ok);
  }

  async stop(): Promise<void> {
    await this.#ceph.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
