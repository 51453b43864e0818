import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import { apiTokenDirectory } from '../../../src/lib/api-token.ts';
import { AgentError, codeOf, ExitCode, messageOf } from '../lib/errors.ts';

/** Where the API server is, and what it takes to be let in. */
export interface ApiAccess {
  readonly server: URL;
  /** Of the context or the pod. */
  readonly namespace?: string;
  /** Asked for each request, as tokens and certificates are replaced while the process runs. */
  options(): Promise<RequestOptions>;
}

/** How long the files of a pod are taken to be the same, ms: the kubelet writes a token anew minutes before the old one ends. */
const fresh = 10_000;

/** KUBECONFIG when it is set, else the pod's own token, else the user's kubeconfig. */
export async function findAccess(env: NodeJS.ProcessEnv): Promise<ApiAccess> {
  if (!env.KUBECONFIG && env.KUBERNETES_SERVICE_HOST) return podAccess(env);
  // The library is large, and a pod does without it.
  const { kubeConfigAccess } = await import('./kube-config-access.ts');
  return kubeConfigAccess();
}

async function podAccess(env: NodeJS.ProcessEnv): Promise<ApiAccess> {
  const host = env.KUBERNETES_SERVICE_HOST ?? '';
  const file = (name: string) =>
    readFile(join(apiTokenDirectory, name)).catch((error) => {
      throw new AgentError(
        ExitCode.usage,
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
    options: forAWhile(read),
  };
}

/** A failure is not kept. */
export function forAWhile<T>(read: () => Promise<T>, now = () => performance.now()): () => Promise<T> {
  let last: { readonly at: number; readonly answer: Promise<T> } | undefined;
  return () => {
    if (last && now() - last.at < fresh) return last.answer;
    const reading = { at: now(), answer: read() };
    last = reading;
    reading.answer.catch(() => {
      if (last === reading) last = undefined;
    });
    return reading.answer;
  };
}
