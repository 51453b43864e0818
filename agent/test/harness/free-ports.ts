import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Ports that were returned may not be in use yet. */
const taken = new Set<number>();

/**
 * Returns free ports on loopback. They are below the range that the kernel uses for outgoing connections, so no
 * connection takes a port before its server starts.
 */
export async function freePorts(count: number): Promise<number[]> {
  const held: Server[] = [];
  try {
    while (held.length < count) {
      const port = 12_000 + Math.floor(Math.random() * 20_000);
      if (taken.has(port)) continue;
      const server = createServer().listen(port, '127.0.0.1');
      const bound = await once(server, 'listening').catch(() => undefined);
      if (!bound) continue;
      taken.add(port);
      held.push(server);
    }
    return held.map((server) => (server.address() as { port: number }).port);
  } finally {
    await Promise.all(held.map((server) => new Promise((done) => server.close(done))));
  }
}
