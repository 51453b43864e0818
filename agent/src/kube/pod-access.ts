import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import { apiTokenDirectory } from '../../../src/lib/api-token.ts';
import { codeOf, messageOf, usageError } from '../lib/errors.ts';
import type { ApiAccess } from './api-client.ts';

/** Milliseconds for which a pod's files are cached. The kubelet renews a token minutes before the old one expires. */
const cached = 10_000;

/** The token of the pod's ServiceAccount. */
export async function podAccess(env: NodeJS.ProcessEnv): Promise<ApiAccess> {
  const host = env.KUBERNETES_SERVICE_HOST ?? '';
  const file = (name: string) =>
    readFile(join(apiTokenDirectory, name)).catch((error) => {
      throw usageError(
        `${join(apiTokenDirectory, name)}: cannot be read (${codeOf(error) ?? messageOf(error)}); mount the token of the ServiceAccount there`,
      );
    });
  const bracketed = host.includes(':') ? `[${host}]` : host;
  const read = async (): Promise<RequestOptions> => {
    const [token, ca] = await Promise.all([file('token'), file('ca.crt')]);
    return { ca, headers: { authorization: `Bearer ${token.toString().trim()}` } };
  };
  return {
    server: new URL(`https://${bracketed}:${env.KUBERNETES_SERVICE_PORT ?? '443'}`),
    namespace: (await file('namespace')).toString().trim(),
    options: withCache(read),
  };
}

/** Caches the answer of a call for 10 s. Does not cache failures. */
export function withCache<T>(read: () => Promise<T>, now = () => performance.now()): () => Promise<T> {
  let last: { readonly at: number; readonly answer: Promise<T> } | undefined;
  return () => {
    if (last && now() - last.at < cached) return last.answer;
    const reading = { at: now(), answer: read() };
    last = reading;
    reading.answer.catch(() => {
      if (last === reading) last = undefined;
    });
    return reading.answer;
  };
}
