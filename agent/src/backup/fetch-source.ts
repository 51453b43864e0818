import { open } from 'node:fs/promises';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { AgentError, codeOf, ExitCode, messageOf } from '../errors.ts';
import { SnapshotCheck, type SnapshotSums, TRAILER } from '../etcd/snapshot-stream.ts';
import type { TlsMaterial } from '../etcd/tls.ts';

/** A plain snapshot that another agent serves. */
export interface Source {
  readonly url: string;
  /** Sent as a bearer token. */
  readonly token: string;
  /** Of the whole file, in hex. */
  readonly sha256: string;
}

export interface FetchOptions {
  readonly signal?: AbortSignal;
  readonly tls?: TlsMaterial;
  /** What the server's certificate must name, when it is not the URL's host: pods are dialled by address. */
  readonly serverName?: string;
  /** Milliseconds without a new byte. */
  readonly idleTimeout: number;
  readonly onBytes?: (bytes: number, expected: number) => void;
}

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
  const { tls, serverName, signal, idleTimeout } = options;
  const wanted: RequestOptions = { signal, agent: false, headers: { authorization: `Bearer ${token}` } };
  const sent = url.startsWith('https:')
    ? tlsRequest(url, { ...wanted, ...tls, ...(serverName !== undefined && { servername: serverName }) })
    : request(url, wanted);
  sent.setTimeout(idleTimeout, () => sent.destroy(new Error(`no byte for ${idleTimeout / 1000}s`)));
  sent.on('response', resolve).on('error', reject).end();
  const response = await promise.catch((error) => {
    signal?.throwIfAborted();
    throw unavailable(`${url}: ${messageOf(error)}`, error);
  });
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
  { signal, onBytes }: FetchOptions,
): Promise<SnapshotSums> {
  const check = new SnapshotCheck(expected, url);
  let bytes = 0;
  const checked = async function* () {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      check.add(chunk);
      onBytes?.(bytes, expected);
      yield chunk;
    }
  };
  const handle = await open(file, 'wx', 0o600).catch((error) => {
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
    await handle.close();
  }
  if (bytes !== expected) throw unavailable(`${url} broke off after ${bytes} of ${expected} bytes`);
  const sums = check.finish();
  if (sums.sha256 !== sha256) throw failed(`${url}: it is not the snapshot that was announced (sha256 differs)`);
  return sums;
}

const cannotWrite = (file: string, error: unknown) =>
  new AgentError(ExitCode.usage, `--scratch: cannot write ${file} (${codeOf(error) ?? messageOf(error)})`, {
    cause: error,
  });
