import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheDirectory } from './etcd-binaries.ts';
import { freePorts } from './free-ports.ts';
import type { S3Server } from './s3-server.ts';
import { ServerProcess } from './server-process.ts';

const program = join(cacheDirectory, 'versitygw/versitygw');

export interface VersitygwOptions {
  readonly buckets?: readonly string[];
  /** Allows versioning and object lock, which must still be enabled for each bucket. Default: false. */
  readonly versioning?: boolean;
  /** Stores metadata of objects in files: ext4's extended attributes have room for about 500 parts only. */
  readonly sidecar?: boolean;
  /** Listen address. Default: loopback. */
  readonly host?: string;
}

/** A real S3 server on a temporary directory: each bucket is a directory in it, and each object a file. */
export class Versitygw implements S3Server {
  readonly endpoint: string;
  readonly accessKeyId = 'test-access';
  readonly secretAccessKey = 'test-secret-access-key';
  readonly region = 'us-east-1';
  readonly credentialsDirectory: string;
  /** Contains one directory per bucket. */
  readonly directory: string;
  readonly #root: string;
  #process: ServerProcess | undefined;

  private constructor(root: string, host: string, port: number) {
    this.#root = root;
    this.directory = join(root, 'buckets');
    this.credentialsDirectory = join(root, 'credentials');
    this.endpoint = `http://${host}:${port}`;
  }

  static async start({ buckets = [], host = '127.0.0.1', ...options }: VersitygwOptions = {}): Promise<Versitygw> {
    if (!existsSync(program)) throw new Error('no versitygw at hand; run `npm run suite -- etcd`');
    const [port] = await freePorts(1);
    const server = new Versitygw(await mkdtemp(join(tmpdir(), 'versitygw-')), host, port!);
    try {
      await server.#launch(options);
      for (const bucket of buckets) await mkdir(join(server.directory, bucket));
      return server;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  async #launch({ versioning = false, sidecar = false }: VersitygwOptions): Promise<void> {
    const [versions, attributes] = [join(this.#root, 'versions'), join(this.#root, 'attributes')];
    for (const path of [this.directory, this.credentialsDirectory, versions, attributes]) await mkdir(path);
    await writeFile(join(this.credentialsDirectory, 'AWS_ACCESS_KEY_ID'), this.accessKeyId);
    await writeFile(join(this.credentialsDirectory, 'AWS_SECRET_ACCESS_KEY'), this.secretAccessKey);
    const args = [
      ...['--access', this.accessKeyId, '--secret', this.secretAccessKey, '--region', this.region],
      ...['--port', new URL(this.endpoint).host, '--health', '/health', '--keep-alive', '--quiet', 'posix'],
      ...(versioning ? ['--versioning-dir', versions] : []),
      ...(sidecar ? ['--sidecar', attributes] : []),
      this.directory,
    ];
    this.#process = await ServerProcess.spawn('versitygw', program, args, join(this.#root, 'log'));
    await this.#process.until(async () => (await fetch(`${this.endpoint}/health`)).ok);
  }

  async stop(): Promise<void> {
    await this.#process?.kill();
    await rm(this.#root, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
