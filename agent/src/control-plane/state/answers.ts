import { readFile } from 'node:fs/promises';
import { request as http, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as https } from 'node:https';
import type { TlsFiles } from '../../etcd/tls.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const LIMIT = 3_000;
/** Bytes: what is longer is no answer of etcd's, but somebody gives it. */
const LONGEST = 4 * 1024 * 1024;

/** One GET; undefined when nobody answers. Certificates are shown but not checked: only who is alive is asked here. */
export async function answerOf(url: string, tls: TlsFiles = {}, signal?: AbortSignal): Promise<Answer | undefined> {
  const read = (file: string | undefined) => (file ? readFile(file).catch(() => undefined) : undefined);
  const [cert, key] = await Promise.all([read(tls.cert), read(tls.key)]);
  const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
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

/** Empty where it is too long. */
async function bodyOf(response: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of response.setEncoding('utf8')) {
    body += chunk;
    // Leaving the loop ends the connection.
    if (body.length > LONGEST) return '';
  }
  return body;
}
