import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ssh2, { type ParsedKey } from 'ssh2';
import { codeOf, messageOf, usageError } from '../../lib/errors.ts';
import { readFault } from '../../lib/files/file-faults.ts';
import type { SftpSpec } from '../spec.ts';
import { HostKeys, type KnownHostsText } from './host-keys.ts';

/** Data for a login, and the host keys to accept. */
export interface SftpLogin {
  readonly username: string;
  readonly password: string | undefined;
  readonly key: ParsedKey | undefined;
  readonly hostKeys: HostKeys;
}

/** Accepted names of a Secret's files, among them those of Kubernetes' ssh-auth Secrets and of ssh itself. */
const files = {
  username: ['username'],
  password: ['password'],
  privateKey: ['privateKey', 'ssh-privatekey'],
  passphrase: ['passphrase'],
  knownHosts: ['knownHosts', 'known_hosts'],
} as const;

/** Reads the files again at every call, because a Secret may have been rotated. */
export async function readLogin(spec: SftpSpec): Promise<SftpLogin> {
  const { credentialsDirectory: directory } = spec;
  if (!directory) {
    throw usageError(`sftp: host ${spec.host}: no credentials; set credentialsDirectory`);
  }
  await access(directory).catch((error) => {
    throw mistake(directory, `cannot be read (${codeOf(error)}); mount the Secret there`);
  });
  const read = (file: keyof typeof files) => readFirst(directory, files[file]);
  const username = spec.username ?? oneLine(directory, await read('username'));
  const password = oneLine(directory, await read('password'));
  const key = parseKey(directory, await read('privateKey'), oneLine(directory, await read('passphrase')));
  if (!username) throw mistake(directory, 'has no username; add that file, or set username');
  if (!key && password === undefined) throw mistake(directory, 'has neither privateKey nor password; add one of them');
  const known = spec.knownHostsFile ? await readKnownHosts(spec.knownHostsFile) : await read('knownHosts');
  return { username, password, key, hostKeys: HostKeys.of(spec, known) };
}

const mistake = (directory: string, why: string) => usageError(`credentialsDirectory ${directory}: ${why}`);

async function readFirst(directory: string, names: readonly string[]): Promise<KnownHostsText | undefined> {
  for (const name of names) {
    try {
      return { name, text: await readFile(join(directory, name), 'utf8') };
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw mistake(directory, `${name} cannot be read ${readFault(error)}`);
    }
  }
  return undefined;
}

async function readKnownHosts(file: string): Promise<KnownHostsText> {
  try {
    return { name: file, text: await readFile(file, 'utf8') };
  } catch (error) {
    throw usageError(`sftp: knownHostsFile ${file} cannot be read ${readFault(error)}`);
  }
}

function oneLine(directory: string, file: KnownHostsText | undefined): string | undefined {
  if (!file) return undefined;
  const value = file.text.replace(/\r?\n$/, '');
  if (value === '') throw mistake(directory, `${file.name} is empty`);
  if (/[\r\n]/.test(value)) throw mistake(directory, `${file.name} has several lines; it must contain only the value`);
  return value;
}

function parseKey(
  directory: string,
  file: KnownHostsText | undefined,
  passphrase: string | undefined,
): ParsedKey | undefined {
  if (!file) return undefined;
  const rounds = roundsOf(file.text);
  if (passphrase !== undefined && rounds > MOST_ROUNDS) {
    throw mistake(
      directory,
      `${file.name} is encrypted with ${rounds} rounds, which take too long; use at most ${MOST_ROUNDS} (ssh-keygen -p -a ${MOST_ROUNDS} -f FILE)`,
    );
  }
  const parsed = tryParse(file.text, passphrase);
  if (parsed instanceof Error) throw mistake(directory, `${file.name} ${keyProblem(parsed, passphrase)}`);
  const key = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!key?.isPrivateKey()) throw mistake(directory, `${file.name} is a public key; use the private key`);
  return key;
}

/** ssh2 returns most errors, and throws some. */
function tryParse(pem: string, passphrase: string | undefined): ReturnType<typeof ssh2.utils.parseKey> {
  try {
    return ssh2.utils.parseKey(pem, passphrase);
  } catch (error) {
    return new Error(messageOf(error));
  }
}

/** Of bcrypt. ssh-keygen uses 16 to 24. Each takes up to 20 ms, in which nothing else runs. */
const MOST_ROUNDS = 100;
const OPENSSH = Buffer.from('openssh-key-v1\0');

/** Returns the rounds with which the passphrase of an OpenSSH key is hashed; 0 for another key. */
function roundsOf(pem: string): number {
  // Like ssh2: up to the last end marker.
  const [, base64 = ''] = /-----BEGIN OPENSSH PRIVATE KEY-----(.+)-----END OPENSSH PRIVATE KEY-----/s.exec(pem) ?? [];
  const key = Buffer.from(base64, 'base64');
  if (!key.subarray(0, OPENSSH.length).equals(OPENSSH)) return 0;
  const next = (from: number) => (from + 4 <= key.length ? from + 4 + key.readUInt32BE(from) : key.length);
  // The cipher and the hash, then the options: a salt and the rounds.
  const options = next(next(OPENSSH.length));
  const rounds = next(options + 4);
  return rounds + 4 <= Math.min(next(options), key.length) ? key.readUInt32BE(rounds) : 0;
}

function keyProblem({ message }: Error, passphrase: string | undefined): string {
  if (/no passphrase given/i.test(message)) return 'is encrypted; add the file passphrase';
  const isWrong = /bad passphrase|integrity check/i.test(message);
  if (isWrong || (passphrase !== undefined && /^error:|bad decrypt/i.test(message))) {
    return 'cannot be decrypted; correct the file passphrase';
  }
  return 'is not a private key in OpenSSH or PEM format (ssh-keygen -p -f FILE converts it)';
}
