import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { AgentError, ExitCode, messageOf } from '../lib/errors.ts';
import type { ApiAccess } from './api-access.ts';

/** What kubectl would use: its files, contexts and credential plugins; or just this file. */
export function kubeConfigAccess(file?: string): ApiAccess {
  const config = new KubeConfig();
  try {
    if (file === undefined) config.loadFromDefault();
    else config.loadFromFile(file);
  } catch (error) {
    throw mistake(messageOf(error));
  }
  const cluster = config.getCurrentCluster();
  if (!cluster) throw mistake(`there is no cluster for the context '${config.getCurrentContext()}'`);
  const context = config.getContextObject(config.getCurrentContext());
  return {
    server: new URL(cluster.server),
    ...(context?.namespace && { namespace: context.namespace }),
    options: async () => {
      const options: RequestOptions = {};
      await config.applyToHTTPSOptions(options);
      // Its own agent keeps no connection; only a proxy needs it.
      if (!cluster.proxyUrl) delete options.agent;
      return options;
    },
  };
}

const mistake = (message: string) => new AgentError(ExitCode.usage, `KUBECONFIG: ${message}`);
