import { connect } from 'node:net';
import ssh2, {
  type Algorithms,
  type AnyAuthMethod,
  type KexAlgorithm,
  type KeyboardInteractiveAuthMethod,
  type ParsedKey,
  type ServerHostKeyAlgorithm,
} from 'ssh2';
import { defaults as schemaDefaults } from '../../../../src/resource/defaults.ts';
import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import type { SftpSpec } from '../spec.ts';
import { readLogin, type SftpLogin } from './credentials.ts';
import { loginFault } from './errors.ts';
import { KEY_TYPES, keyTypeOf } from './host-keys.ts';
import { SftpSession } from './session.ts';

/** Time limits in milliseconds. Tests use shorter ones. */
export interface SftpTuning {
  /** Longest time without any answer while a request is waiting. */
  readonly idleTimeout: number;
  /** Longest time from the first packet to the end of the login. */
  readonly loginTimeout: number;
}

const usual = schemaDefaults.SftpStoreSpec;
const defaults: SftpTuning = { idleTimeout: 60_000, loginTimeout: 30_000 };

/** Milliseconds. Keeps firewalls from dropping a connection over which nothing is sent for a while. */
const KEEPALIVE = 15_000;

/** Key exchange with SHA-1: a strong attacker can break it, and some old servers have nothing else. */
const LEGACY_KEX: KexAlgorithm[] = [
  'diffie-hellman-group-exchange-sha1',
  'diffie-hellman-group14-sha1',
  'diffie-hellman-group1-sha1',
];

/** The only session of a store: opened when it is first needed, and again after it was lost. */
export class SftpConnection {
  readonly #spec: SftpSpec;
  readonly #tuning: SftpTuning;
  #session: SftpSession | undefined;
  #opening: Promise<SftpSession> | undefined;
  #closed = false;

  constructor(spec: SftpSpec, tuning: Partial<SftpTuning> = {}) {
    this.#spec = spec;
    this.#tuning = { ...defaults, ...tuning };
  }

  async session(): Promise<SftpSession> {
    if (this.#session && !this.#session.isLost) return this.#session;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  close(): void {
    this.#closed = true;
    this.#session?.close();
  }

  async #open(): Promise<SftpSession> {
    const session = await openSession(this.#spec, await readLogin(this.#spec), this.#tuning);
    // The connection may have been closed while the session was being opened.
    if (this.#closed) session.close();
    this.#session = session;
    return session;
  }
}

class WrongHostKey extends AgentError {
  readonly keyType: string;

  constructor(message: string, keyType: string) {
    super(ExitCode.storeRefused, message);
    this.keyType = keyType;
  }
}

/** Connects, verifies the server's host key, and logs in. */
async function openSession(spec: SftpSpec, login: SftpLogin, tuning: SftpTuning): Promise<SftpSession> {
  let types = login.hostKeys.types ?? KEY_TYPES;
  let wrong: WrongHostKey | undefined;
  for (;;) {
    try {
      return await logIn(spec, login, tuning, types);
    } catch (error) {
      if (!(error instanceof WrongHostKey)) {
        throw wrong && isWithoutKey(error) ? wrong : loginFault(spec, login, error);
      }
      wrong ??= error;
      // A server shows one key of the types that we accept, and a fingerprint does not reveal the type: try each type.
      types = types.filter((type) => type !== error.keyType);
      if (login.hostKeys.types || types.length === 0) throw wrong;
    }
  }
}

const isWithoutKey = (error: unknown) => /no matching host key/.test(messageOf(error));

async function logIn(
  spec: SftpSpec,
  login: SftpLogin,
  { idleTimeout, loginTimeout }: SftpTuning,
  keyTypes: readonly string[],
): Promise<SftpSession> {
  const { host, port = usual.port, legacyAlgorithms: legacy = usual.legacyAlgorithms } = spec;
  const { promise, resolve, reject } = Promise.withResolvers<SftpSession>();
  const socket = connect({ host, port, noDelay: true });
  const client = new ssh2.Client();
  let wrong: WrongHostKey | undefined;
  const fail = (error: Error) => reject(wrong ?? error);
  const closed = () => fail(new Error('the server closed the connection'));
  const timer = setTimeout(() => fail(new Error(`no answer for ${loginTimeout / 1000} s`)), loginTimeout);
  client.on('error', fail).on('close', closed);
  client.on('ready', () =>
    client.sftp((error, sftp) => {
      if (error) return fail(Object.assign(error, { level: 'sftp' }));
      resolve(new SftpSession(client, sftp, socket, `${host}:${port}`, idleTimeout));
    }),
  );
  try {
    client.connect({
      sock: socket,
      username: login.username,
      authHandler: authMethods(login, legacy),
      algorithms: algorithmsFor(legacy, keyTypes),
      readyTimeout: 0,
      keepaliveInterval: KEEPALIVE,
      // Never give up because of a missing keepalive reply: on a slow line it may be late. Requests detect a dead
      // server.
      keepaliveCountMax: Number.POSITIVE_INFINITY,
      hostVerifier: (key: Buffer) => {
        const problem = login.hostKeys.problemOf(key);
        if (problem) wrong = new WrongHostKey(`${host}:${port}: ${problem}`, keyTypeOf(key));
        return !problem;
      },
    });
    return await promise;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Algorithms to offer. Host key algorithms are limited to types of which a key is known, so that the server shows
 * such a key.
 */
function algorithmsFor(legacy: boolean, keyTypes: readonly string[]): Algorithms {
  const serverHostKey = keyTypes.flatMap((type) => signaturesOf(type, legacy));
  return { serverHostKey, kex: { append: legacy ? LEGACY_KEX : [], prepend: [], remove: [] } };
}

function signaturesOf(keyType: string, legacy: boolean): ServerHostKeyAlgorithm[] {
  if (keyType === 'ssh-rsa') return ['rsa-sha2-512', 'rsa-sha2-256', ...(legacy ? (['ssh-rsa'] as const) : [])];
  return KEY_TYPES.includes(keyType) ? [keyType as ServerHostKeyAlgorithm] : [];
}

/** Login methods in the order in which they are tried. */
function authMethods({ username, key, password }: SftpLogin, legacy: boolean): AnyAuthMethod[] {
  const keys = key ? signers(key, legacy) : [];
  const methods: AnyAuthMethod[] = keys.map((signer) => ({ type: 'publickey', username, key: signer }));
  if (password === undefined) return methods;
  methods.push({ type: 'password', username, password });
  // Many servers accept a password only through this method.
  const prompt: KeyboardInteractiveAuthMethod['prompt'] = (_name, _instructions, _language, prompts, answer) =>
    answer(prompts.map(() => password));
  methods.push({ type: 'keyboard-interactive', username, prompt });
  return methods;
}

function signers(key: ParsedKey, legacy: boolean): ParsedKey[] {
  if (key.type !== 'ssh-rsa') return [key];
  return legacy ? [key, onlySha1(key)] : [withoutSha1(key)];
}

/** Refuses to sign with SHA-1, which ssh2 does when a server does not announce SHA-2. */
function withoutSha1(key: ParsedKey): ParsedKey {
  const sign = key.sign.bind(key);
  key.sign = (data, algorithm) =>
    algorithm === 'sha1' ? (new Error('an ssh-rsa signature') as unknown as Buffer) : sign(data, algorithm);
  return key;
}

/**
 * Signs with SHA-1 even if the server announces SHA-2: some servers announce SHA-2 and then refuse it, and ssh2 then
 * never tries SHA-1. ssh2 reads the key's type twice. The first time it chooses the signature algorithm; for an unknown
 * type it finds no alternative to the type's own.
 */
function onlySha1(key: ParsedKey): ParsedKey {
  const types = ['unknown'];
  return Object.create(key, { type: { get: () => types.pop() ?? key.type } });
}
