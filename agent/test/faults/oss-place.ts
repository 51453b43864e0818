import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OssStub } from '../support/oss-stub.ts';
import { secretDirectory } from '../support/secret-directory.ts';
import type { Place } from './place.ts';

/** A bucket of a stub that is as strict as Alibaba Cloud OSS. */
export class OssPlace implements Place, AsyncDisposable {
  readonly stub: OssStub;
  readonly #root: string;
  readonly #credentialsDirectory: string;

  private constructor(stub: OssStub) {
    this.stub = stub;
    this.#root = mkdtempSync(join(tmpdir(), 'oss-place-'));
    const { accessKeyId: accessKeyID, accessKeySecret } = stub;
    this.#credentialsDirectory = secretDirectory(join(this.#root, 'secret'), { accessKeyID, accessKeySecret }).path;
  }

  static async make(): Promise<OssPlace> {
    return new OssPlace(await OssStub.start());
  }

  get store(): string {
    return this.through(this.stub.endpoint);
  }

  /** For `--store`, through a proxy on this machine. */
  through(proxy: string): string {
    const { region, bucket } = this.stub;
    // The bucket can precede a host name, but not an IP address.
    const endpoint = proxy.replace('127.0.0.1', 'localhost');
    const parameters = { endpoint, region, credentialsDirectory: this.#credentialsDirectory };
    return `oss://${bucket.bucket}?${new URLSearchParams(parameters)}`;
  }

  async keys(): Promise<string[]> {
    return [...this.stub.bucket.objects.keys()].sort();
  }

  async unfinished(): Promise<string[]> {
    return [...this.stub.bucket.uploads.values()].map(({ key }) => key).sort();
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    const body = Buffer.from(bytes);
    const etag = createHash('md5').update(body).digest('hex');
    this.stub.bucket.objects.set(key, { body, modified: new Date(), etag });
  }

  async get(key: string): Promise<Buffer> {
    const found = this.stub.bucket.objects.get(key);
    if (!found) throw new Error(`no object ${key}`);
    return found.body;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stub[Symbol.asyncDispose]();
    await rm(this.#root, { recursive: true, force: true });
  }
}
