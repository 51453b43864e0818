import { request as http } from 'node:http';
import { request as https } from 'node:https';
import { text } from 'node:stream/consumers';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Sends one GET on a new connection, so that an old connection does not hide a restart. */
export function get(url: string, ca: Buffer | undefined, ms: number): Promise<Answer> {
  const send = url.startsWith('https:') ? https : http;
  return new Promise((resolve, reject) => {
    const sent = send(url, { ca, agent: false, signal: AbortSignal.timeout(ms) }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}
