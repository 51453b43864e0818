import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface StubRequest {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly accessKeyId: string;
  readonly body: Buffer;
}

export interface StubAnswer {
  readonly status: number;
  /** Code and message of the error, or a whole body. */
  readonly code?: string;
  readonly message?: string;
  readonly body?: string | Buffer;
  readonly headers?: Record<string, string>;
  /** Headers that this answer lacks. */
  readonly lacks?: readonly string[];
  /** Breaks the connection after this number of bytes of the body. */
  readonly cutAt?: number;
  /** Stalls after this number of bytes of the body. */
  readonly stallAt?: number;
}

interface Stored {
  readonly body: Buffer;
  readonly modified: Date;
  readonly etag: string;
}

interface Upload {
  readonly key: string;
  readonly initiated: Date;
  readonly parts: Map<number, Stored>;
}

const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');
const xml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const refuse = (status: number, code: string, message = code): StubAnswer => ({ status, code, message });
const document = (name: string, content: string): StubAnswer => ({
  status: 200,
  body: `<${name}>${content}</${name}>`,
});

/**
 * One bucket in memory, in path style. Strict: it also refuses what older servers and servers other than AWS refuse.
 */
export class S3Stub implements AsyncDisposable {
  readonly bucket = 'bucket';
  readonly objects = new Map<string, Stored>();
  readonly uploads = new Map<string, Upload>();
  /** `PUT key?partNumber&uploadId` by `UploadPart` and so on: the requests, in order. */
  readonly log: string[] = [];
  accessKeyIds = ['stub-access'];
  /** Milliseconds by which the server's clock is ahead. */
  ahead = 0;
  pageSize = 1000;
  /** Answers instead of the bucket. */
  intercept: (request: StubRequest, operation: string) => StubAnswer | 'hang' | undefined = () => undefined;
  /** Executes the request without interception. */
  carryOut(request: StubRequest): void {
    this.#answer(operationOf(request), request);
  }
  /** Delay of the answer in milliseconds. */
  delay: (operation: string) => number = () => 0;
  readonly #server: Server;

  private constructor(tls?: { cert: Buffer; key: Buffer }) {
    const listener = (request: IncomingMessage, response: ServerResponse) => {
      this.#serve(request, response).catch((error) => response.destroy(error));
    };
    this.#server = tls ? createTlsServer(tls, listener) : createServer(listener);
  }

  static async start(tls?: { cert: Buffer; key: Buffer }): Promise<S3Stub> {
    const stub = new S3Stub(tls);
    stub.#server.listen(0, '127.0.0.1');
    await once(stub.#server, 'listening');
    return stub;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #now(): Date {
    return new Date(Date.now() + this.ahead);
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url!, 'http://stub');
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const request: StubRequest = {
      method: incoming.method!,
      key: decodeURIComponent(url.pathname.slice(this.bucket.length + 2)),
      query: url.searchParams,
      headers: incoming.headers,
      accessKeyId: /Credential=([^/]+)/.exec(incoming.headers.authorization ?? '')?.[1] ?? '',
      body: Buffer.concat(chunks),
    };
    const operation = operationOf(request);
    this.log.push(`${operation} ${request.key}`.trim());
    const answer = this.intercept(request, operation) ?? this.#strict(url, request) ?? this.#answer(operation, request);
    await new Promise((resolve) => setTimeout(resolve, this.delay(operation)));
    if (answer !== 'hang') await this.#send(request, answer, response);
  }

  async #send({ method }: StubRequest, answer: StubAnswer, response: ServerResponse): Promise<void> {
    const { status, code, message, headers, lacks = [], cutAt, stallAt } = answer;
    const error = `<Error><Code>${code}</Code><Message>${xml(message ?? '')}</Message></Error>`;
    const body = Buffer.from(answer.body ?? (code ? error : ''));
    const length = { 'content-length': String(body.length) };
    const all = { date: this.#now().toUTCString(), ...(status === 204 ? {} : length), ...headers };
    response.writeHead(status, Object.fromEntries(Object.entries(all).filter(([name]) => !lacks.includes(name))));
    if (method === 'HEAD') return void response.end();
    const at = cutAt ?? stallAt;
    if (at === undefined) return void response.end(body);
    response.write(body.subarray(0, at));
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (cutAt !== undefined) response.destroy();
  }

  #strict(url: URL, { method, headers, accessKeyId, body }: StubRequest): StubAnswer | undefined {
    if (!url.pathname.startsWith(`/${this.bucket}`)) return refuse(404, 'NoSuchBucket');
    if (!headers.authorization?.startsWith('AWS4-HMAC-SHA256 ')) return refuse(403, 'AccessDenied');
    if (!this.accessKeyIds.includes(accessKeyId))
      return refuse(403, 'InvalidAccessKeyId', `No such key: ${accessKeyId}`);
    if (headers.expect) return refuse(417, 'ExpectationFailed');
    if (headers['content-encoding'] || headers['transfer-encoding'])
      return refuse(501, 'NotImplemented', 'aws-chunked');
    if (Object.keys(headers).some((name) => name.startsWith('x-amz-checksum')))
      return refuse(501, 'NotImplemented', 'checksum');
    if (method === 'PUT' && headers['content-length'] !== String(body.length))
      return refuse(411, 'MissingContentLength');
    const sha256 = createHash('sha256').update(body).digest('hex');
    return headers['x-amz-content-sha256'] === sha256 ? undefined : refuse(400, 'XAmzContentSHA256Mismatch');
  }

  #answer(operation: string, request: StubRequest): StubAnswer {
    const { key, query, body, headers } = request;
    const uploadId = query.get('uploadId') ?? '';
    const upload = this.uploads.get(uploadId);
    if (uploadId && upload?.key !== key) return refuse(404, 'NoSuchUpload');
    switch (operation) {
      case 'PutObject':
        if (headers['if-none-match'] === '*' && this.objects.has(key)) return refuse(412, 'PreconditionFailed');
        return this.#store(key, body, md5(body));
      case 'HeadObject':
      case 'GetObject':
        return this.#get(key);
      case 'DeleteObject':
        this.objects.delete(key);
        return { status: 204 };
      case 'ListObjectsV2':
        return this.#list(query);
      case 'CreateMultipartUpload': {
        const id = randomUUID();
        this.uploads.set(id, { key, initiated: this.#now(), parts: new Map() });
        return document('InitiateMultipartUploadResult', `<UploadId>${id}</UploadId>`);
      }
      case 'UploadPart': {
        const etag = md5(body);
        upload!.parts.set(Number(query.get('partNumber')), { body, modified: this.#now(), etag });
        return { status: 200, headers: { etag: `"${etag}"` } };
      }
      case 'CompleteMultipartUpload':
        if (headers['if-none-match'] === '*' && this.objects.has(key)) return refuse(412, 'PreconditionFailed');
        return this.#complete(uploadId, upload!, body.toString());
      case 'AbortMultipartUpload':
        this.uploads.delete(uploadId);
        return { status: 204 };
      case 'ListMultipartUploads':
        return this.#listUploads(query.get('prefix') ?? '');
      default:
        return refuse(405, 'MethodNotAllowed');
    }
  }

  #store(key: string, body: Buffer, etag: string): StubAnswer {
    this.objects.set(key, { body, modified: this.#now(), etag });
    return { status: 200, headers: { etag: `"${etag}"` } };
  }

  #get(key: string): StubAnswer {
    const found = this.objects.get(key);
    if (!found) return refuse(404, 'NoSuchKey');
    return { status: 200, body: found.body, headers: { 'last-modified': found.modified.toUTCString() } };
  }

  #complete(id: string, { key, parts }: Upload, request: string): StubAnswer {
    const listed = [...request.matchAll(/<Part>.*?<\/Part>/gs)].map(([part]) => part);
    const stored = [...parts].sort(([a], [b]) => a - b);
    const whole = stored.every(([number, { etag }], index) => {
      const part = listed[index] ?? '';
      return part.includes(`<PartNumber>${number}<`) && part.includes(etag);
    });
    if (!whole || listed.length !== parts.size) return refuse(400, 'InvalidPart');
    if (new Set(stored.slice(0, -1).map(([, { body }]) => body.length)).size > 1)
      return refuse(400, 'InvalidPart', 'sizes differ');
    this.uploads.delete(id);
    const etag = `${md5(Buffer.from(stored.map(([, part]) => part.etag).join(''), 'hex'))}-${parts.size}`;
    this.#store(key, Buffer.concat(stored.map(([, { body }]) => body)), etag);
    return document('CompleteMultipartUploadResult', `<ETag>"${etag}"</ETag>`);
  }

  #list(query: URLSearchParams): StubAnswer {
    const after = query.get('continuation-token') ?? '';
    const limit = Math.min(this.pageSize, Number(query.get('max-keys') ?? this.pageSize));
    const keys = [...this.objects.keys()]
      .filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after)
      .sort();
    const page = keys.slice(0, limit);
    const contents = page.map((key) => {
      const { body, modified } = this.objects.get(key)!;
      const fields = `<Size>${body.length}</Size><LastModified>${modified.toISOString()}</LastModified>`;
      return `<Contents><Key>${xml(key)}</Key>${fields}</Contents>`;
    });
    const truncated = keys.length > page.length;
    const token = truncated ? `<NextContinuationToken>${xml(page.at(-1)!)}</NextContinuationToken>` : '';
    return document('ListBucketResult', `<IsTruncated>${truncated}</IsTruncated>${token}${contents.join('')}`);
  }

  #listUploads(prefix: string): StubAnswer {
    const found = [...this.uploads].filter(([, { key }]) => key.startsWith(prefix));
    const uploads = found.map(([id, { key, initiated }]) => {
      const fields = `<UploadId>${id}</UploadId><Initiated>${initiated.toISOString()}</Initiated>`;
      return `<Upload><Key>${xml(key)}</Key>${fields}</Upload>`;
    });
    return document('ListMultipartUploadsResult', `<IsTruncated>false</IsTruncated>${uploads.join('')}`);
  }
}

function operationOf({ method, key, query }: StubRequest): string {
  if (query.has('uploads')) return method === 'POST' ? 'CreateMultipartUpload' : 'ListMultipartUploads';
  if (query.has('uploadId')) {
    if (method === 'PUT') return 'UploadPart';
    return method === 'POST' ? 'CompleteMultipartUpload' : 'AbortMultipartUpload';
  }
  if (method === 'GET') return key === '' ? 'ListObjectsV2' : 'GetObject';
  return { PUT: 'PutObject', HEAD: 'HeadObject', DELETE: 'DeleteObject' }[method] ?? method;
}
