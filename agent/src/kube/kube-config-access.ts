import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { KubeConfig as ClientConfig, type Cluster } from '@kubernetes/client-node';
import { messageOf } from '../lib/errors.ts';
import { proxyOf } from '../lib/http/proxy.ts';
import type { ApiAccess } from './api-client.ts';
import { ExecCredential } from './exec-credential.ts';
import { type KubeConfigChoice, mistake, readKubeConfig, type UserConfig } from './kube-config.ts';
import { podAccess } from './pod-access.ts';

/**
 * Uses the same configuration as kubectl: files, context, proxies and credential plugins; without any file, in a pod, the
 * token of the pod.
 */
export async function kubeConfigAccess(
  choice: KubeConfigChoice = {},
  env: NodeJS.ProcessEnv = process.env,
): Promise<ApiAccess> {
  const config = await readKubeConfig(choice, env);
  if (!config && choice.context === undefined && env.KUBERNETES_SERVICE_HOST) return podAccess(env);
  if (!config) throw mistake('there is no such file, and no ~/.kube/config; pass --kubeconfig, or set KUBECONFIG');
  const { context, namespace } = config;
  const server = new URL(config.cluster.server);
  const cluster: Cluster = {
    ...config.cluster,
    proxyUrl: config.cluster.proxyUrl ?? proxyOf(server, env),
    // The library refuses http without it, as of `kubectl proxy`.
    skipTLSVerify: config.cluster.skipTLSVerify || server.protocol === 'http:',
  };
  // Plain HTTP, such as that of `kubectl proxy`, gets no credentials.
  const user: UserConfig =
    server.protocol === 'http:' ? { ...nobody, impersonation: config.user.impersonation } : config.user;
  const client = new ClientConfig();
  client.loadFromClusterAndUser(cluster, user.user);
  const exec = user.exec && new ExecCredential(user.exec, clusterInfo(cluster, config.execExtension), choice.signal);
  return {
    server,
    context,
    namespace,
    renew: () => {
      exec?.forget();
      return exec !== undefined;
    },
    options: async () => {
      const options: RequestOptions = {};
      try {
        await client.applyToHTTPSOptions(options);
        await addCredentials(options, user, exec);
      } catch (error) {
        throw mistake(`the credentials of the user '${user.user.name}': ${messageOf(error)}`);
      }
      // The library's agent does not keep connections. It is only needed for a proxy.
      if (!cluster.proxyUrl) delete options.agent;
      return options;
    },
  };
}

const nobody = { user: { name: 'nobody' } };

async function addCredentials(
  options: RequestOptions,
  { user, tokenFile, impersonation }: UserConfig,
  exec: ExecCredential | undefined,
): Promise<void> {
  const headers: Record<string, string | string[]> = {
    ...(options.headers as Record<string, string>),
    ...impersonation,
  };
  options.headers = headers;
  const token = tokenFile === undefined ? undefined : await tokenIn(tokenFile, user.token);
  if (token !== undefined) headers.Authorization = `Bearer ${token}`;
  if (!exec || headers.Authorization !== undefined) return;
  const credential = await exec.read();
  if (credential.token) headers.Authorization = `Bearer ${credential.token}`;
  if (credential.clientCertificateData) {
    options.cert = credential.clientCertificateData;
    options.key = credential.clientKeyData;
  }
}

/** The file is read for every request, because it is replaced while a command runs. */
const tokenIn = (file: string, instead: string | undefined): Promise<string> =>
  readFile(file, 'utf8').then(
    (content) => content.trim(),
    (error) => {
      if (instead === undefined) throw error;
      return instead;
    },
  );

const clusterInfo = ({ server, caData, skipTLSVerify, tlsServerName, proxyUrl }: Cluster, config: unknown): object => ({
  server,
  'certificate-authority-data': caData,
  'insecure-skip-tls-verify': skipTLSVerify || undefined,
  'tls-server-name': tlsServerName,
  'proxy-url': proxyUrl,
  config,
});
