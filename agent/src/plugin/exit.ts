import { CommanderError } from 'commander';
import { ApiError } from '../kube/api-error.ts';
import { AgentError, codeOf, messageOf } from '../lib/errors.ts';

/** Exit codes of the plugin. They are stable, because scripts use them. docs/reference/kubectl-etcd.md explains them. */
export const Exit = {
  done: 0,
  unexpected: 1,
  usage: 2,
  notFound: 3,
  forbidden: 4,
  unreachable: 5,
  /** What was asked about is not well, or what was followed has failed. */
  bad: 6,
  /** You or the API server said no, and nothing was changed. */
  refused: 7,
  interrupted: 130,
} as const;

export type Exit = (typeof Exit)[keyof typeof Exit];

/** An error that the user can act on, in one line. */
export class PluginError extends Error {
  readonly exit: Exit;

  constructor(exit: Exit, message: string) {
    super(message);
    this.name = 'PluginError';
    this.exit = exit;
  }
}

export const usage = (message: string): PluginError => new PluginError(Exit.usage, message);

export interface PluginFailure {
  readonly exit: Exit;
  readonly message: string;
}

/** What to say about a thrown value, and how to end. */
export function failureOf(error: unknown, server?: URL): PluginFailure {
  if (error instanceof PluginError) return { exit: error.exit, message: error.message };
  // The agent's own usage errors are about the kubeconfig here.
  if (error instanceof AgentError) return { exit: Exit.usage, message: error.message };
  if (error instanceof CommanderError)
    return { exit: error.exitCode === 0 ? Exit.done : Exit.usage, message: error.message };
  if (error instanceof ApiError) return ofAnswer(error);
  const message = messageOf(error);
  if (
    codeOf(error) !== undefined ||
    /: no answer in \d+ ms$|: nothing arrived for \d+ s$|check whether a proxy answers/.test(message)
  )
    return {
      exit: Exit.unreachable,
      message: `cannot reach the API server ${server?.origin ?? ''}: ${message}; check the network and the kubeconfig`,
    };
  return { exit: Exit.unexpected, message: `unexpected: ${(error as Error)?.stack ?? message}` };
}

function ofAnswer({ status, said }: ApiError): PluginFailure {
  if (status === 401)
    return { exit: Exit.forbidden, message: `the API server does not accept your credentials (${said}); log in again` };
  if (status === 403) return { exit: Exit.forbidden, message: `you may not do this: ${said}` };
  if (status === 404)
    return {
      exit: Exit.notFound,
      message: /could not find the requested resource|page not found/.test(said)
        ? 'this Kubernetes does not know EtcdClusters; apply the CustomResourceDefinitions (crds.k8s.yaml) first'
        : said,
    };
  if (status === 429 || status >= 500) return { exit: Exit.unreachable, message: `the API server fails: ${said}` };
  if (status === 409 && !/already exists/.test(said))
    return {
      exit: Exit.refused,
      message: `somebody changed it at the same time, so nothing was changed; run the command again (${said})`,
    };
  return { exit: Exit.refused, message: `the API server refuses it, and nothing was changed: ${said}` };
}
