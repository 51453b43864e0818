import { open } from 'node:fs/promises';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { SnapshotCheck, type SnapshotSums, TRAILER } from '../../etcd/snapshot-stream.ts';
import { connectOptions, type TlsMaterial } from '../../etcd/tls.ts';
import { AgentError, codeOf, ExitCode, messageOf } from '../../lib/errors.ts';
import { cannotWrite } from '../../lib/files/file-faults.ts';

/** A plain snapshot that another agent serves over HTTP. */
export interface SnapshotSource {
  readonly url: string;
  /** Sent as a bearer token. Empty with TLS, where a certificate takes its place. */
  readonly token: string;
  /** SHA-256 of the whole file, in hex. */
  readonly sha256: string;
}

/** Request header with the id of the etcd cluster that the snapshot is restored as. */
export const clusterIdHeader = 'etcd-cluster-id';

/** Request header with the number by which the restore moves the revision. */
export const bumpHeader = 'etcd-bump-revision';

export interface FetchOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly tls?: TlsMaterial;
  /** Name that the server's certificate must have, if it is not the URL's host: pods are dialled by address. */
  readonly serverName?: string;
  /** Milliseconds until the response begins, and for each further `LEAST` bytes of it. */
  readonly idleTimeout: number;
  readonly onBytes?: (bytes: number, expected: number) => void;
}

/** Bytes. A server that sends less than this within the time-out counts as hanging. */
const LEAST = 64 * 1024;

const unavailable = (message: string, cause?: unknown) =>
  new AgentError(ExitCode.etcdUnavailable, message, cause === undefined ? undefined : { cause });
const failed = (message: string) => new AgentError(ExitCode.verificationFailed, message);

/**
 * Writes the snapshot to a new file. Throws unless it arrived completely, with etcd's own trailer and the announced
 * checksum.
 */
export async function fetchSource(source: SnapshotSource, file: string, options: FetchOptions): Promise<SnapshotSums> {
  const response = await respond(source, options);
  try {
    const expected = lengthOf(source, response);
    return await save(response, expected, file, source, options);
  } finally {
    response.destroy();
  }
}

async function respond({ url, token }: SnapshotSource, options: FetchOptions): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { tls, serverName, signal, idleTimeout, headers } = options;
  const wanted: RequestOptions = {
    signal,
    agent: false,
    headers: { ...headers, ...(token && { authorization: `Bearer ${token}` }) },
  };
  const sent = url.startsWith('https:')
    ? tlsRequest(url, {
        ...wanted,
        ...connectOptions(tls ?? {}),
        servername: serverName,
      })
    : request(url, wanted);
  // Do not use the request's own time-out: it restarts with every byte of a header.
  const timer = setTimeout(() => sent.destroy(new Error(`no response within ${idleTimeout / 1000}s`)), idleTimeout);
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

function lengthOf({ url }: SnapshotSource, { headers }: IncomingMessage): number {
  const length = Number(headers['content-length']);
  if (!Number.isSafeInteger(length)) throw unavailable(`${url} does not send a Content-Length`);
  if (length <= TRAILER) throw failed(`${url}: ${length} bytes are too few for a snapshot`);
  return length;
}

async function save(
  response: IncomingMessage,
  expected: number,
  file: string,
  { url, sha256 }: SnapshotSource,
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
    throw cannotWrite(file, error, 'scratch');
  });
  try {
    await handle.writeFile(checked());
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof AgentError) throw error;
    if (['ENOSPC', 'EDQUOT', 'EIO', 'EROFS'].includes(codeOf(error) ?? '')) throw cannotWrite(file, error, 'scratch');
    throw unavailable(`${url} broke off after ${bytes} of ${expected} bytes (${messageOf(error)})`, error);
  } finally {
    clearInterval(watch);
    await handle.close();
  }
  if (bytes !== expected) throw unavailable(`${url} broke off after ${bytes} of ${expected} bytes`);
  const sums = check.finish();
  if (sums.sha256 !== sha256) throw failed(`${url}: this is not the snapshot that was announced (sha256 differs)`);
  return sums;
}

function watcher(response: IncomingMessage, expected: number, idleTimeout: number, bytes: () => number): () => void {
  let before = 0;
  const check = () => {
    const now = bytes();
    if (now < Math.min(before + LEAST, expected)) {
      response.destroy(new Error(`${now - before} bytes in ${idleTimeout / 1000}s`));
    }
    before = now;
  };
  // Wait for two turns of the event loop, so that bytes that arrived while this process had no CPU are counted.
  return () => setImmediate(() => setImmediate(check));
}
