import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { makeBucket, type S3Server, s3Client } from '../harness/s3-server.ts';
import type { Place } from './place.ts';

/** A bucket on a real S3 server. */
export class BucketPlace implements Place, AsyncDisposable {
  readonly bucket: string;
  readonly #server: S3Server;
  readonly #client: S3Client;

  private constructor(server: S3Server, client: S3Client, bucket: string) {
    this.bucket = bucket;
    this.#server = server;
    this.#client = client;
  }

  static async make(server: S3Server): Promise<BucketPlace> {
    const bucket = `faults-${randomBytes(4).toString('hex')}`;
    const client = s3Client(server);
    await makeBucket(client, bucket);
    return new BucketPlace(server, client, bucket);
  }

  get store(): string {
    return this.through(this.#server.endpoint);
  }

  /** For `--store`, through a proxy. */
  through(endpoint: string): string {
    const { credentialsDirectory } = this.#server;
    return `s3://${this.bucket}?${new URLSearchParams({ endpoint, credentialsDirectory })}`;
  }

  /** Path of an object's bytes, if the server stores them in plain files. */
  fileOf(key: string): string {
    return join(this.#server.directory!, this.bucket, key);
  }

  async keys(): Promise<string[]> {
    const { Contents = [] } = await this.#client.send(new ListObjectsV2Command({ Bucket: this.bucket }));
    return Contents.map(({ Key }) => Key!).sort();
  }

  async unfinished(): Promise<string[]> {
    const { Uploads = [] } = await this.#client.send(new ListMultipartUploadsCommand({ Bucket: this.bucket }));
    return Uploads.map(({ Key }) => Key!).sort();
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.#client.send(new PutObjectCommand({ Bucket: this.bucket, Key: key, Body: bytes }));
  }

  async get(key: string): Promise<Buffer> {
    const { Body } = await this.#client.send(new GetObjectCommand({ Bucket: this.bucket, Key: key }));
    return Buffer.from(await Body!.transformToByteArray());
  }

  /** Leaves what a run leaves that was killed during an upload. */
  async beginUpload(key: string): Promise<void> {
    await this.#client.send(new CreateMultipartUploadCommand({ Bucket: this.bucket, Key: key }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.destroy();
  }
}
