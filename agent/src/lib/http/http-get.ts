import { type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { type RequestOptions, request as requestHttps } from 'node:https';

/** Largest answer in characters. */
const longest = 1024 * 1024;

interface GetOptions extends RequestOptions {
  readonly signal: AbortSignal;
  /** Throws if the answer cannot be trusted. */
  readonly check?: (body: string, headers: IncomingHttpHeaders) => void;
}

function parsed(url: string, body: string) {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new Error(`${url}: the answer is not JSON`, { cause: error });
  }
}

/** Requests a short JSON document from one of the project's pods. Every status other than 200 is an error. */
export async function getJson<T>(url: string, { check, ...options }: GetOptions): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const send = url.startsWith('https:') ? requestHttps : requestHttp;
  send(url, { agent: false, ...options }, async (response) => {
    try {
      let body = '';
      for await (const chunk of response.setEncoding('utf8')) {
        body += chunk;
        if (body.length > longest) throw new Error(`${url}: the answer is longer than 1 MiB`);
      }
      if (response.statusCode !== 200) throw new Error(`${url}: HTTP status ${response.statusCode}`);
      check?.(body, response.headers);
      resolve(parsed(url, body));
    } catch (error) {
      reject(error);
    }
  })
    .on('error', reject)
    .end();
  return promise;
}
