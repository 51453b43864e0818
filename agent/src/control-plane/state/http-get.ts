import { readFile } from 'node:fs/promises';
import { request as http, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as https } from 'node:https';
import type { TlsFiles } from '../../etcd/tls.ts';

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Time-out, in ms. */
const LIMIT = 3_000;
/** Largest body, in bytes. Longer responses do not come from etcd. */
const LONGEST = 4 * 1024 * 1024;

/**
 * Sends one GET request. Returns undefined without a response. Presents the client certificate but does not verify the
 * server's: the callers only check that something answers.
 */
export async function httpGet(
  url: string,
  tls: TlsFiles = {},
  signal?: AbortSignal,
): Promise<HttpResponse | undefined> {
  const read = (file: string | undefined) => (file ? readFile(file).catch(() => undefined) : undefined);
  const [cert, key] = await Promise.all([read(tls.cert), read(tls.key)]);
  const { promise, resolve } = Promise.withResolvers<HttpResponse | undefined>();
  const none = () => resolve(undefined);
  const pair = cert && key ? { cert, key } : {};
  const within = AbortSignal.any([AbortSignal.timeout(LIMIT), ...(signal ? [signal] : [])]);
  const options = { ...pair, rejectUnauthorized: false, agent: false, signal: within };
  try {
    const send = url.startsWith('https:') ? https : http;
    send(url, options, (response) => {
      const { statusCode = 0, headers } = response;
      bodyOf(response).then((body) => resolve({ status: statusCode, headers, body }), none);
    })
      .on('error', none)
      .end();
  } catch {
    none();
  }
  return promise;
}

/** Reads the body; returns an empty string if it is too long. */
async function bodyOf(response: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of response.setEncoding('utf8')) {
    body += chunk;
    // Leaving the loop closes the connection.
    if (body.length > LONGEST) return '';
  }
  return body;
}
