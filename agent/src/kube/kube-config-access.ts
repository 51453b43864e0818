import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { messageOf, usageError } from '../lib/errors.ts';
import type { ApiAccess } from './api-client.ts';

/** Uses the same configuration as kubectl: files, context and credential plugins. With `file`, uses only that file. */
export function kubeConfigAccess(file?: string): ApiAccess {
  const config = new KubeConfig();
  try {
    if (file === undefined) config.loadFromDefault();
    else config.loadFromFile(file);
  } catch (error) {
    throw mistake(messageOf(error));
  }
  const cluster = config.getCurrentCluster();
  if (!cluster) throw mistake(`the context '${config.getCurrentContext()}' has no cluster`);
  const context = config.getContextObject(config.getCurrentContext());
  return {
    server: new URL(cluster.server),
    ...(context?.namespace && { namespace: context.namespace }),
    options: async () => {
      const options: RequestOptions = {};
      await config.applyToHTTPSOptions(options);
      // The library's agent does not keep connections. It is only needed for a proxy.
      if (!cluster.proxyUrl) delete options.agent;
      return options;
    },
  };
}

const mistake = (message: string) => usageError(`KUBECONFIG: ${message}`);
