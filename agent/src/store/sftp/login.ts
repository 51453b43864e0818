import { connect } from 'node:net';
import ssh2 from 'ssh2';
import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import type { SftpSpec } from '../spec.ts';
import { algorithmsFor, KEY_TYPES } from './algorithms.ts';
import { authMethods } from './auth.ts';
import type { SftpLogin } from './credentials.ts';
import { loginFault } from './errors.ts';
import { keyTypeOf } from './host-keys.ts';
import { SftpSession } from './session.ts';

/** What tests shrink, in milliseconds. */
export interface SftpTuning {
  /** Without any answer while we wait for one. */
  readonly idleTimeout: number;
  /** From the first packet to the end of the login. */
  readonly loginTimeout: number;
}

/** So that no firewall forgets a connection over which nothing is sent for a while. */
const KEEPALIVE = 15_000;

class WrongHostKey extends AgentError {
  readonly keyType: string;

  constructor(message: string, keyType: string) {
    super(ExitCode.storeRefused, message);
    this.keyType = keyType;
  }
}

/** Connects, makes sure who the server is, and logs in. */
export async function openSession(spec: SftpSpec, login: SftpLogin, tuning: SftpTuning): Promise<SftpSession> {
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
      // A server shows one of its keys, and a fingerprint does not tell which to ask for.
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
  const { host, port = 22, legacyAlgorithms: legacy = false } = spec;
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
      // Whether the server is still there shows when we want something: on a slow line a reply may be late.
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
