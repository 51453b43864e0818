import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import ssh2, { type AuthContext, type Connection } from 'ssh2';

export interface SftpStubOptions {
  readonly login: (attempt: AuthContext) => void;
  /** Default: true. */
  readonly sftp?: boolean;
}

/** An SSH server for logins with a password, which sshd cannot offer without real users. It has no files. */
export class SftpStub implements AsyncDisposable {
  readonly hostKey: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, hostKey: string) {
    this.#server = server;
    this.hostKey = hostKey;
    server.on('connection', (socket) => this.#sockets.add(socket));
  }

  static async start({ login, sftp = true }: SftpStubOptions): Promise<SftpStub> {
    // For one of some hundred keys, ssh2 writes a text that it cannot parse; for an ECDSA key it does not.
    const { private: key, public: hostKey } = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });
    const ssh = new ssh2.Server({ hostKeys: [key] });
    ssh.on('connection', (client) => serve(client, login, sftp));
    const server = createServer((socket) => ssh.injectSocket(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new SftpStub(server, hostKey);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((done) => this.#server.close(done));
  }
}

function serve(client: Connection, login: (attempt: AuthContext) => void, sftp: boolean): void {
  client.on('error', () => {});
  client.on('authentication', login);
  client.on('session', (accept) => {
    const session = accept();
    if (!sftp) return;
    session.on('sftp', (take) => {
      const files = take();
      const { NO_SUCH_FILE, PERMISSION_DENIED } = ssh2.utils.sftp.STATUS_CODE;
      files.on('STAT', (id) => files.status(id, NO_SUCH_FILE));
      files.on('OPEN', (id) => files.status(id, PERMISSION_DENIED));
    });
  });
}
