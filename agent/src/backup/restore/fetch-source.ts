import { open } from 'node:fs/promises';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { SnapshotCheck, type SnapshotSums, TRAILER } from '../../etcd/snapshot-stream.ts';
import type { TlsMaterial } from '../../etcd/tls.ts';
import { AgentError, codeOf, ExitCode, messageOf } from '../../lib/errors.ts';

/** A plain snapshot that another agent serves. */
export interface Source {
  readonly url: string;
  /** Sent as a bearer token. */
  readonly token: string;
  /** Of the whole file, in hex. */
  readonly sha256: string;
}

/** Of the request: as which etcd cluster the snapshot is restored. */
export const clusterIdHeader = 'etcd-cluster-id';

export interface FetchOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly tls?: TlsMaterial;
  /** What the server's certificate must name, when it is not the URL's host: pods are dialled by address. */
  readonly serverName?: string;
  /** Milliseconds until the answer begins, and for each of its next `LEAST` bytes. */
  readonly idleTimeout: number;
  readonly onBytes?: (bytes: number, expected: number) => void;
}

/** A server that sends less than this in the time-out hangs, if politely. */
const LEAST = 64 * 1024;

const unavailable = (message: string, cause?: unknown) =>
  new AgentError(ExitCode.etcdUnavailable, message, cause === undefined ? undefined : { cause });
const failed = (message: string) => new AgentError(ExitCode.verificationFailed, message);

/** Writes it to a new file; throws unless all of it came, with etcd's own trailer and the sum that was told. */
export async function fetchSource(source: Source, file: string, options: FetchOptions): Promise<SnapshotSums> {
  const response = await respond(source, options);
  try {
    const expected = lengthOf(source, response);
    return await save(response, expected, file, source, options);
  } finally {
    response.destroy();
  }
}

async function respond({ url, token }: Source, options: FetchOptions): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { tls, serverName, signal, idleTimeout, headers } = options;
  const wanted: RequestOptions = { signal, agent: false, headers: { ...headers, authorization: `Bearer ${token}` } };
  const sent = url.startsWith('https:')
    ? tlsRequest(url, { ...wanted, ...tls, ...(serverName !== undefined && { servername: serverName }) })
    : request(url, wanted);
  // Not the request's own, which begins anew with every byte of a header.
  const timer = setTimeout(() => sent.destroy(new Error(`no answer for ${idleTimeout / 1000}s`)), idleTimeout);
  sent.on('response', resolve).on('error', reject).end();
  const response = await promise
    .catch((error) => {
      signal?.throwIfAborted();
      throw unavailable(`${url}: ${messageOf(error)}`, error);
    })
    .finally(() => clearTimeout(timer));
  const { statusCode } = response;
  if (statusCode === 200) return response;
  response.destroy();
  if (statusCode === 401 || statusCode === 403) {
    throw new AgentError(ExitCode.refused, `${url} refuses the token or the certificate (${statusCode})`);
  }
  throw unavailable(`${url} answers ${statusCode}`);
}

function lengthOf({ url }: Source, { headers }: IncomingMessage): number {
  const length = Number(headers['content-length']);
  if (!Number.isSafeInteger(length)) throw unavailable(`${url} does not say how much it sends`);
  if (length <= TRAILER) throw failed(`${url}: ${length} bytes are no snapshot`);
  return length;
}

async function save(
  response: IncomingMessage,
  expected: number,
  file: string,
  { url, sha256 }: Source,
  { signal, onBytes, idleTimeout }: FetchOptions,
): Promise<SnapshotSums> {
  const check = new SnapshotCheck(expected, url);
  let bytes = 0;
  const watch = setInterval(
    watcher(response, expected, idleTimeout, () => bytes),
    idleTimeout,
  );
  const checked = async function* () {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      check.add(chunk);
      onBytes?.(bytes, expected);
      yield chunk;
    }
  };
  const handle = await open(file, 'wx', 0o600).catch((error) => {
    clearInterval(watch);
    throw cannotWrite(file, error);
  });
  try {
    await handle.writeFile(checked());
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof AgentError) throw error;
    if (['ENOSPC', 'EDQUOT', 'EIO', 'EROFS'].includes(codeOf(error) ?? '')) throw cannotWrite(file, error);
    throw unavailable(`${url} broke off after ${bytes} of ${expected} bytes (${messageOf(error)})`, error);
  } finally {
    clearInterval(watch);
    await handle.close();
  }
  if (bytes !== expected) throw unavailable(`${url} broke off after ${bytes} of ${expected} bytes`);
  const sums = check.finish();
  if (sums.sha256 !== sha256) throw failed(`${url}: it is not the snapshot that was announced (sha256 differs)`);
  return sums;
}

function watcher(response: IncomingMessage, expected: number, idleTimeout: number, bytes: () => number): () => void {
  let before = 0;
  const look = () => {
    const now = bytes();
    if (now < Math.min(before + LEAST, expected)) {
      response.destroy(new Error(`${now - before} bytes in ${idleTimeout / 1000}s`));
    }
    before = now;
  };
  // The second turn of the event loop lets bytes in that came while this process had no CPU.
  return () => setImmediate(() => setImmediate(look));
}

const cannotWrite = (file: string, error: unknown) =>
  new AgentError(ExitCode.usage, `--scratch: cannot write ${file} (${codeOf(error) ?? messageOf(error)})`, {
    cause: error,
  });
