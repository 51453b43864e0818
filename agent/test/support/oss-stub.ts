import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { signatureFault } from './oss-signature.ts';
import { S3Stub } from './s3-stub.ts';

const MIN_PART = 100 * 1024;

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message?: string;
}

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/**
 * One bucket of Alibaba Cloud OSS, following the documentation of its S3-compatible endpoint: the bucket only in the
 * host name, whole bodies, parts of 100 KiB and more, ETags in capitals, verified signatures. It uses a bucket in
 * memory.
 */
export class OssStub implements AsyncDisposable {
  readonly accessKeyId = 'oss-access-key-id';
  readonly accessKeySecret = 'oss-access-key-secret';
  readonly region = 'eu-central-1';
  /** The bucket in memory: its content, and answers to send instead. */
  readonly bucket: S3Stub;
  /** Requests that were refused before the bucket: code, method and URL. */
  readonly refused: string[] = [];
  readonly #server: Server;
  readonly #scheme: string;

  private constructor(bucket: S3Stub, tls?: { cert: Buffer; key: Buffer }) {
    this.bucket = bucket;
    bucket.accessKeyIds = [this.accessKeyId];
    const listener = (incoming: IncomingMessage, response: ServerResponse) => {
      this.#serve(incoming, response).catch(() => response.destroy());
    };
    this.#server = tls ? createTlsServer(tls, listener) : createServer(listener);
    this.#scheme = tls ? 'https' : 'http';
  }

  static async start(tls?: { cert: Buffer; key: Buffer }): Promise<OssStub> {
    const stub = new OssStub(await S3Stub.start(), tls);
    stub.#server.listen(0, 'localhost');
    await once(stub.#server, 'listening');
    return stub;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get endpoint(): string {
    return `${this.#scheme}://localhost:${this.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
    await this.bucket[Symbol.asyncDispose]();
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method = '', url = '', headers } = incoming;
    const asked: Asked = { method, url, headers, body: Buffer.concat(chunks) };
    const refusal = this.#refusal(asked);
    if (!refusal) return this.#forward(asked, response);
    this.refused.push(`${refusal.code} ${method} ${url}`);
    const { status, code, message = code } = refusal;
    const text = `<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
    response.writeHead(status, { 'content-type': 'application/xml', date: new Date().toUTCString() });
    response.end(method === 'HEAD' ? '' : text);
  }

  #refusal(asked: Asked): Refusal | undefined {
    const { headers, body } = asked;
    const host = headers.host?.replace(/:\d+$/, '') ?? '';
    if (host === 'localhost' || /^[\d.]+$/.test(host)) {
      return { status: 403, code: 'SecondLevelDomainForbidden', message: 'Put the bucket into the host name.' };
    }
    if (host !== `${this.bucket.bucket}.localhost`) return { status: 404, code: 'NoSuchBucket' };
    const refusal = encodingRefusal(headers) ?? this.#operationRefusal(asked);
    if (refusal) return refusal;
    const key = { accessKeyId: this.accessKeyId, secret: this.accessKeySecret, region: this.region };
    const fault = signatureFault(asked, key);
    if (fault) return { status: fault === 'InvalidArgument' ? 400 : 403, code: fault };
    const said = headers['x-amz-content-sha256'];
    if (said === 'UNSIGNED-PAYLOAD' && this.#scheme === 'https') return undefined;
    return said === sha256(body) ? undefined : { status: 400, code: 'XAmzContentSHA256Mismatch' };
  }

  #operationRefusal({ method, url }: Asked): Refusal | undefined {
    const query = new URL(url, 'http://x').searchParams;
    // The SDK sends an MD5 or a newer checksum, and not every release supports both.
    if (method === 'POST' && query.has('delete')) return { status: 501, code: 'NotImplemented' };
    const number = Number(query.get('partNumber') ?? 1);
    if (!(number >= 1 && number <= 10_000)) return { status: 400, code: 'InvalidArgument' };
    if (method !== 'POST' || !query.has('uploadId')) return undefined;
    const parts = [...(this.bucket.uploads.get(query.get('uploadId')!)?.parts ?? [])].sort(([a], [b]) => a - b);
    const small = parts.slice(0, -1).some(([, part]) => part.body.length < MIN_PART);
    return small ? { status: 400, code: 'EntityTooSmall' } : undefined;
  }

  /** Forward to the bucket, which uses path style. */
  async #forward({ method, url, headers, body }: Asked, response: ServerResponse): Promise<void> {
    const inner = lowerETags(body);
    const forwarded = request(`http://127.0.0.1:${this.bucket.port}/${this.bucket.bucket}${url}`, {
      method,
      headers: { ...headers, 'x-amz-content-sha256': sha256(inner) },
    });
    forwarded.end(inner);
    response.on('close', () => forwarded.destroy());
    const [answer] = (await once(forwarded, 'response')) as [IncomingMessage];
    const { etag } = answer.headers;
    response.writeHead(answer.statusCode!, { ...answer.headers, ...(etag && { etag: etag.toUpperCase() }) });
    // Send it at once: the test may have told the bucket to stall.
    response.flushHeaders();
    answer.on('error', () => response.destroy());
    answer.pipe(response);
  }
}

function encodingRefusal(headers: IncomingMessage['headers']): Refusal | undefined {
  const streaming = String(headers['x-amz-content-sha256']).startsWith('STREAMING-');
  if (streaming || headers['content-encoding'] || headers['x-amz-decoded-content-length']) {
    return { status: 400, code: 'InvalidArgument', message: 'No aws-chunked here.' };
  }
  if (headers['transfer-encoding']) return { status: 411, code: 'MissingContentLength' };
  const newer = Object.keys(headers).find((name) => /^x-amz-(checksum|sdk-checksum|trailer)|^trailer$/.test(name));
  return newer ? { status: 501, code: 'NotImplemented', message: newer } : undefined;
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Converts the ETags of CompleteMultipartUpload to those of the bucket. */
function lowerETags(body: Buffer): Buffer {
  if (!body.subarray(0, 200).includes('<CompleteMultipartUpload')) return body;
  return Buffer.from(body.toString().replaceAll(/(?<=<ETag>).*?(?=<\/ETag>)/g, (etag) => etag.toLowerCase()));
}
