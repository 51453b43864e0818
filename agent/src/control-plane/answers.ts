import { readFile } from 'node:fs/promises';
import { request as http, type IncomingHttpHeaders } from 'node:http';
import { request as https } from 'node:https';
import { text } from 'node:stream/consumers';
import type { TlsFiles } from '../etcd/tls.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const LIMIT = 3_000;

/** One GET; undefined when nobody answers. Certificates are shown but not checked: only who is alive is asked here. */
export async function answerOf(url: string, tls: TlsFiles = {}): Promise<Answer | undefined> {
  const read = (file: string | undefined) => (file ? readFile(file).catch(() => undefined) : undefined);
  const [cert, key] = await Promise.all([read(tls.cert), read(tls.key)]);
  const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
  const none = () => resolve(undefined);
  const pair = cert && key ? { cert, key } : {};
  const options = { ...pair, rejectUnauthorized: false, agent: false, signal: AbortSignal.timeout(LIMIT) };
  try {
    const send = url.startsWith('https:') ? https : http;
    send(url, options, (response) => {
      const { statusCode = 0, headers } = response;
      text(response).then((body) => resolve({ status: statusCode, headers, body }), none);
    })
      .on('error', none)
      .end();
  } catch {
    none();
  }
  return promise;
}
