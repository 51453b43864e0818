import type { Socket } from 'node:net';

/** Connections by what they have shown: strangers never take the place of a backup. */
export class Places {
  readonly #most: { readonly connections: number; readonly strangers: number };
  /** By address, the oldest first. */
  readonly #strangers = new Map<string, Socket>();
  readonly #backups = new Set<string>();

  constructor(most: { readonly connections: number; readonly strangers: number }) {
    this.#most = most;
  }

  /** A connection whose certificate is not known yet. */
  enter(socket: Socket): void {
    const address = addressOf(socket);
    this.#strangers.set(address, socket);
    socket.once('close', () => {
      this.#strangers.delete(address);
      this.#backups.delete(address);
    });
    if (this.#strangers.size <= this.#most.strangers) return;
    const [oldest, first] = this.#strangers.entries().next().value!;
    this.#strangers.delete(oldest);
    first.destroy();
  }

  /** The connection has shown the certificate of backups. Returns false if there are enough of them. */
  admit(socket: Socket): boolean {
    if (this.#backups.size >= this.#most.connections) return false;
    const address = addressOf(socket);
    if (!this.#strangers.delete(address)) return false;
    this.#backups.add(address);
    return true;
  }
}

/** The same for a connection and for the TLS on it. */
const addressOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
