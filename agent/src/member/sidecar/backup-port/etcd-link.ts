import { isIP } from 'node:net';
import { GrpcChannel } from '../../../etcd/grpc.ts';
import { loadTlsDirectory } from '../../../etcd/tls.ts';

/** Time limit of a connection to the etcd beside the agent, in ms. */
const dialTimeout = 5_000;

interface Etcd {
  /** URLs on which etcd listens for clients. The last one has TLS, if any has. */
  readonly listenClientUrls: readonly string[];
  /** URL with a name that etcd's certificate contains. */
  readonly clientUrl: string;
  readonly rootTlsDir: string;
}

/** Connects to the etcd of this pod as its user root, with the certificate that the directory holds now. */
export async function connectAsRoot(
  { listenClientUrls, clientUrl, rootTlsDir }: Etcd,
  signal: AbortSignal,
): Promise<GrpcChannel> {
  const tls = await loadTlsDirectory('rootTlsDir', rootTlsDir);
  const { hostname } = new URL(clientUrl);
  const servername = isIP(hostname.replace(/^\[|\]$/g, '')) ? {} : { servername: hostname };
  const url = listenClientUrls.at(-1)!.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  return GrpcChannel.connect(url, { tls: { ...tls, ...servername }, dialTimeout, signal });
}
