import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';

const timeout = 500;

/**
 * Returns true if etcd answers a TLS handshake at this URL. It reads the files of its client port only when it begins to
 * serve clients, which may be long after its start. The server's own certificate is presented: without one etcd would log
 * a refused client.
 */
export async function servesTls(url: string, directory: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const host = hostname
    .replace(/^0\.0\.0\.0$/, '127.0.0.1')
    .replace(/^\[::\]$/, '::1')
    .replace(/^\[|\]$/g, '');
  const { promise, resolve } = Promise.withResolvers<boolean>();
  try {
    const [cert, key] = await Promise.all(['tls.crt', 'tls.key'].map((name) => readFile(join(directory, name))));
    // Any answer counts, whichever server sends it.
    const socket = connect({ host, port: Number(port), cert, key, rejectUnauthorized: false });
    socket.setTimeout(timeout, () => socket.destroy());
    socket
      .on('secureConnect', () => resolve(true))
      .on('close', () => resolve(false))
      .on('error', () => resolve(false));
    return await promise.finally(() => socket.end());
  } catch {
    // Between two writes of the files, the key may not match the certificate.
    return false;
  }
}
