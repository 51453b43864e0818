import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { messageOf, usageError } from '../lib/errors.ts';
import type { ApiAccess } from './api-client.ts';

/**
 * Uses the same configuration as kubectl: files, context and credential plugins. With `file`, uses only that file; with
 * `context`, that context.
 */
export function kubeConfigAccess(file?: string, context?: string): ApiAccess {
  const config = new KubeConfig();
  try {
    if (file === undefined) config.loadFromDefault();
    else config.loadFromFile(file);
  } catch (error) {
    throw mistake(messageOf(error));
  }
  if (context !== undefined) config.setCurrentContext(context);
  const cluster = config.getCurrentCluster();
  if (!cluster) throw mistake(missing(config));
  const server = new URL(cluster.server);
  // The library refuses http without it, as of `kubectl proxy`.
  if (server.protocol === 'http:') Object.assign(cluster, { skipTLSVerify: true });
  const { namespace } = config.getContextObject(config.getCurrentContext()) ?? {};
  return {
    server,
    ...(namespace && { namespace }),
    options: async () => {
      const options: RequestOptions = {};
      await config.applyToHTTPSOptions(options).catch((error) => {
        throw mistake(`the credentials of the user '${config.getCurrentUser()?.name}': ${messageOf(error)}`);
      });
      // The library's agent does not keep connections. It is only needed for a proxy.
      if (!cluster.proxyUrl) delete options.agent;
      return options;
    },
  };
}

function missing(config: KubeConfig): string {
  const name = config.getCurrentContext();
  const names = config.getContexts().map((each) => each.name);
  if (config.getContextObject(name)) return `the context '${name}' has no cluster`;
  return `there is no context '${name ?? ''}'; known: ${names.join(', ') || 'none'}`;
}

const mistake = (message: string) => usageError(`KUBECONFIG: ${message}`);
