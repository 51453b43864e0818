import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** What was handed out may not be listened on yet. */
const taken = new Set<number>();

/**
 * Ports on loopback that nobody listens on. They lie below the range that the kernel hands to outgoing connections, so
 * that none of those takes one before its server is up.
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
