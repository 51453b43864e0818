import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FakeApi } from '../../agent/src/controllers/kubernetes/fake-api.fixture.ts';
import type { ApiAccess } from '../../agent/src/kube/api-client.ts';
import { kubeConfigAccess } from '../../agent/src/kube/kube-config-access.ts';
import type { Certificates } from '../../agent/test/harness/certificates.ts';
import { newestEtcd } from '../../agent/test/harness/etcd-binaries.ts';
import { freePorts } from '../../agent/test/harness/free-ports.ts';
import { ServerProcess } from '../../agent/test/harness/server-process.ts';

/** API server with the clusters. */
export interface ApiServer extends AsyncDisposable {
  /** For people. */
  readonly what: string;
  readonly access: ApiAccess;
  /** True if Kubernetes' controllers run, which create the pods of a StatefulSet. */
  readonly controllers: boolean;
}

const isThere = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

/** Uses the API server of KUBECONFIG, else starts one, else uses the stub of the unit tests. */
export async function findApiServer(directory: string, certificates: Certificates): Promise<ApiServer> {
  if (process.env.KUBECONFIG) {
    const access = await kubeConfigAccess();
    return { what: `the API server of KUBECONFIG, ${access.server.host}`, access, controllers: true, ...nothingToEnd };
  }
  if (isThere('kube-apiserver')) return startApiServer(directory, certificates);
  const api = await FakeApi.listen();
  return {
    what: "NO API SERVER: the unit tests' imitation of one, as neither KUBECONFIG is set nor kube-apiserver on the PATH",
    access: api.access,
    controllers: false,
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

const nothingToEnd = { [Symbol.asyncDispose]: () => Promise.resolve() };

async function startApiServer(directory: string, certificates: Certificates): Promise<ApiServer> {
  await mkdir(directory, { recursive: true });
  const [client, peer, secure] = await freePorts(3);
  const token = randomBytes(16).toString('hex');
  const tokens = join(directory, 'tokens.csv');
  await writeFile(tokens, `${token},bench,bench,system:masters\n`, { mode: 0o600 });
  const { version, etcd: program } = newestEtcd();
  const url = (port: number | undefined) => `http://127.0.0.1:${port}`;
  const ofEtcd = {
    'data-dir': join(directory, 'etcd'),
    'listen-client-urls': url(client),
    'advertise-client-urls': url(client),
    'listen-peer-urls': url(peer),
    'initial-advertise-peer-urls': url(peer),
    'initial-cluster': `default=${url(peer)}`,
    // The disk is not part of the measurement.
    'unsafe-no-fsync': 'true',
  };
  const { cert, key } = certificates.server;
  const ofApiServer = {
    'etcd-servers': url(client),
    'bind-address': '127.0.0.1',
    'secure-port': `${secure}`,
    'advertise-address': '127.0.0.1',
    'cert-dir': directory,
    'tls-cert-file': cert,
    'tls-private-key-file': key,
    'token-auth-file': tokens,
    'authorization-mode': 'AlwaysAllow',
    'service-cluster-ip-range': '10.96.0.0/16',
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': cert,
    'service-account-signing-key-file': key,
    // No controller creates the ServiceAccount `default`.
    'disable-admission-plugins': 'ServiceAccount',
  };
  const start = (name: string, command: string, flags: Record<string, string>) => {
    const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    return ServerProcess.spawn(name, command, args, join(directory, `${name}.log`));
  };
  const etcd = await start('etcd', program, ofEtcd);
  const server = await start('kube-apiserver', 'kube-apiserver', ofApiServer);
  const ca = await readFile(certificates.ca);
  const headers = { authorization: `Bearer ${token}` };
  const address = `https://127.0.0.1:${secure}`;
  await server.until(async () => {
    const curl = ['-sf', '--max-time', '2', '--cacert', certificates.ca, '-H', `authorization: Bearer ${token}`];
    return spawnSync('curl', [...curl, `${address}/readyz`]).status === 0;
  });
  const kubernetes = execFileSync('kube-apiserver', ['--version'], { encoding: 'utf8' }).trim();
  return {
    what: `kube-apiserver (${kubernetes}) with etcd ${version}, on the loopback`,
    access: { server: new URL(address), options: async () => ({ ca, headers }) },
    controllers: false,
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      await etcd.stop();
    },
  };
}
