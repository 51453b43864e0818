import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePorts } from './free-ports.ts';
import { ServerProcess } from './server-process.ts';

export type KeyType = 'ed25519' | 'ecdsa' | 'rsa';

export interface SshdOptions {
  /** Host keys. Default: ed25519. */
  readonly hostKeys?: readonly KeyType[];
  /** The user's key. Default: ed25519. */
  readonly userKey?: KeyType;
  /** Options of internal-sftp, such as `-R` (read-only). */
  readonly sftp?: readonly string[];
  /** More lines of sshd_config. */
  readonly config?: readonly string[];
  /** Listen address. Default: loopback. */
  readonly host?: string;
  /** Password with which the user of this process can log in as well. Needs root. */
  readonly password?: string;
}

/** Behaves like an old server: SHA-1 wherever possible, and none of OpenSSH's SFTP extensions. */
export const legacySshd: SshdOptions = {
  hostKeys: ['rsa'],
  userKey: 'rsa',
  sftp: ['-P', 'posix-rename,fsync,statvfs,fstatvfs,limits'],
  config: [
    'KexAlgorithms diffie-hellman-group1-sha1',
    'HostKeyAlgorithms ssh-rsa',
    'PubkeyAcceptedAlgorithms ssh-rsa',
    'Ciphers aes128-ctr',
    'MACs hmac-sha1',
  ],
};

/** A real sshd where the user of this process logs in with a key. */
export class Sshd implements AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly username = userInfo().username;
  /** A Secret's files: `username`, `privateKey`, `knownHosts`. The host key applies to every port of the host. */
  readonly credentialsDirectory: string;
  /** Directory for stores. */
  readonly directory: string;
  readonly #root: string;
  readonly #options: SshdOptions;
  #process: ServerProcess | undefined;

  private constructor(root: string, port: number, options: SshdOptions) {
    this.#root = root;
    this.host = options.host ?? '127.0.0.1';
    this.port = port;
    this.#options = options;
    this.directory = join(root, 'files');
    this.credentialsDirectory = join(root, 'credentials');
  }

  static async start(options: SshdOptions = {}): Promise<Sshd> {
    const [port] = await freePorts(1);
    const server = new Sshd(await mkdtemp(join(tmpdir(), 'sshd-')), port!, options);
    try {
      await server.#prepare();
      await server.restart();
      return server;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  get endpoint(): string {
    return `sftp://${this.host}:${this.port}`;
  }

  /** The public key line of a host key. */
  hostKey(type: KeyType = this.#hostKeys[0]!): string {
    return readFileSync(`${this.#hostKeyFile(type)}.pub`, 'utf8').trim();
  }

  fingerprint(type: KeyType = this.#hostKeys[0]!): string {
    return execFileSync('ssh-keygen', ['-lf', `${this.#hostKeyFile(type)}.pub`], { encoding: 'utf8' }).split(' ')[1]!;
  }

  /** Creates a directory like `credentialsDirectory` with some files changed. Undefined leaves a file out. */
  async credentials(changes: Record<string, string | undefined>): Promise<string> {
    const directory = await mkdtemp(join(this.#root, 'credentials-'));
    const files: Record<string, string | undefined> = {};
    for (const name of readdirSync(this.credentialsDirectory)) {
      files[name] = await readFile(join(this.credentialsDirectory, name), 'utf8');
    }
    for (const [name, text] of Object.entries({ ...files, ...changes })) {
      if (text !== undefined) await writeFile(join(directory, name), text);
    }
    return directory;
  }

  /** The user's private key, encrypted. */
  async encryptedKey(passphrase: string): Promise<string> {
    const file = join(await mkdtemp(join(this.#root, 'encrypted-')), 'key');
    await writeFile(file, await readFile(this.#userKeyFile), { mode: 0o600 });
    execFileSync('ssh-keygen', ['-q', '-p', '-P', '', '-N', passphrase, '-f', file], { stdio: 'ignore' });
    return readFile(file, 'utf8');
  }

  /** Restarts it on the same port, with the same keys. */
  async restart(): Promise<void> {
    const [program, ...args] = this.#command;
    this.#process = await ServerProcess.spawn('sshd', program!, args, join(this.#root, 'log'));
    await this.#process.until(() => greets(this.host, this.port));
  }

  /** Kills the server and all its sessions. */
  async kill(): Promise<void> {
    const children = this.#process ? descendants(this.#process.pid) : [];
    await this.#process?.kill();
    for (const pid of children) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#root, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  get #hostKeys(): readonly KeyType[] {
    return this.#options.hostKeys ?? ['ed25519'];
  }

  get #config(): string {
    return join(this.#root, 'sshd_config');
  }

  get #command(): string[] {
    const server = [sshd(), '-D', '-e', '-f', this.#config];
    if (this.#options.password === undefined) return server;
    // Only sshd sees this password file instead of the machine's.
    return ['unshare', '--mount', 'sh', '-c', 'mount --bind "$0" /etc/shadow && exec "$@"', this.#shadow, ...server];
  }

  get #shadow(): string {
    return join(this.#root, 'shadow');
  }

  get #userKeyFile(): string {
    return join(this.#root, 'user-key');
  }

  #hostKeyFile(type: KeyType): string {
    return join(this.#root, `host-${type}`);
  }

  async #prepare(): Promise<void> {
    // sshd requires this directory as root, for privilege separation.
    if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 });
    for (const path of [this.directory, this.credentialsDirectory]) await mkdir(path);
    for (const type of this.#hostKeys) makeKey(type, this.#hostKeyFile(type));
    makeKey(this.#options.userKey ?? 'ed25519', this.#userKeyFile);
    await writeFile(join(this.credentialsDirectory, 'username'), `${this.username}\n`);
    await writeFile(join(this.credentialsDirectory, 'privateKey'), await readFile(this.#userKeyFile));
    const known = this.#hostKeys.map((type) => `${this.host} ${this.hostKey(type)}\n`);
    await writeFile(join(this.credentialsDirectory, 'knownHosts'), known.join(''));
    await writeFile(this.#config, `${this.#lines().join('\n')}\n`);
    if (this.#options.password !== undefined) await this.#setPassword(this.#options.password);
    await chmod(this.#root, 0o755);
  }

  async #setPassword(password: string): Promise<void> {
    const hash = execFileSync('openssl', ['passwd', '-6', '-stdin'], { input: password, encoding: 'utf8' }).trim();
    await writeFile(this.#shadow, `${this.username}:${hash}:20000:0:99999:7:::\n`, { mode: 0o600 });
    await writeFile(join(this.credentialsDirectory, 'password'), password);
  }

  #lines(): string[] {
    const byPassword = this.#options.password !== undefined;
    return [
      `ListenAddress ${this.host}:${this.port}`,
      ...this.#hostKeys.map((type) => `HostKey ${this.#hostKeyFile(type)}`),
      `AuthorizedKeysFile ${this.#userKeyFile}.pub`,
      'PidFile none',
      'StrictModes no',
      'UsePAM no',
      `PermitRootLogin ${byPassword ? 'yes' : 'prohibit-password'}`,
      `PasswordAuthentication ${byPassword ? 'yes' : 'no'}`,
      'MaxStartups 100',
      `Subsystem sftp internal-sftp ${(this.#options.sftp ?? []).join(' ')}`,
      ...(this.#options.config ?? []),
    ];
  }
}

/** sshd must be started with its absolute path. */
function sshd(): string {
  const directories = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
  const found = directories.map((directory) => join(directory, 'sshd')).find((path) => existsSync(path));
  if (!found) throw new Error('no sshd at hand; run `node scripts/provide/sshd.mjs`');
  return found;
}

function makeKey(type: KeyType, file: string): void {
  const bits = type === 'rsa' ? ['-b', '2048'] : [];
  execFileSync('ssh-keygen', ['-q', '-t', type, ...bits, '-N', '', '-C', 'test', '-f', file], { stdio: 'ignore' });
}

/** sshd sends its version first. */
function greets(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port });
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

function descendants(pid: number): number[] {
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === pid);
  return children.flatMap((child) => [Number(child), ...descendants(Number(child))]);
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may contain spaces.
    return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2]);
  } catch {
    return undefined;
  }
}
