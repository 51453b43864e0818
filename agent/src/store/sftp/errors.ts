import { defaults } from '../../../../src/resource/defaults.ts';
import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import type { SftpSpec } from '../spec.ts';
import type { SftpLogin } from './credentials.ts';

/** Status codes of the SFTP protocol. */
export const Status = { noSuchFile: 2, permissionDenied: 3, failure: 4, badMessage: 5, unsupported: 8 } as const;

/** Returns the status code that the server sent, or undefined if the request failed without an answer. */
export function statusOf(error: unknown): number | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'number' && !(error instanceof AgentError) ? code : undefined;
}

/** True if the server lacks the extension: ssh2 knows this from the handshake, or the server answers so. */
export const isUnsupported = (error: unknown): boolean =>
  statusOf(error) === Status.unsupported || /not support this extended request/.test(messageOf(error));

/** Resolves to undefined instead of rejecting if the path does not exist. */
export async function unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (statusOf(error) === Status.noSuchFile) return undefined;
    throw error;
  }
}

/** State of a server's disk, examined after a failure for which the server gave no reason. */
export type DiskState = 'full' | 'read-only' | 'unknown';

const failures: Record<DiskState, string> = {
  full: 'its disk is full; give it more room or keep fewer snapshots',
  'read-only': 'its disk is mounted read-only; mount it writable',
  unknown: 'it gives no reason; check whether its disk or quota is full, and read its log',
};

/** Error in one line: the action and the path, the server's answer, and what to do. */
export function sftpFault(url: string, doing: string, path: string, error: unknown, volume: DiskState): AgentError {
  if (error instanceof AgentError && error.exitCode !== ExitCode.storeUnreachable) return error;
  const what = `${url}: cannot ${doing} ${path}`;
  const status = statusOf(error);
  if (status === undefined) return new AgentError(ExitCode.storeUnreachable, `${what}: ${messageOf(error)}`);
  const answer = `the server says '${messageOf(error).slice(0, 200)}' (${status})`;
  return new AgentError(ExitCode.storeRefused, `${what}: ${answer}: ${remedyOf(status, volume)}`, { cause: error });
}

function remedyOf(status: number, volume: DiskState): string {
  if (status === Status.permissionDenied) {
    return 'the user is not allowed to do this; change the owner or mode of the directory';
  }
  if (status === Status.noSuchFile) return 'it does not exist; another process deletes files in this directory';
  if (status === Status.badMessage) return 'the name may be too long for it; choose a shorter cluster name or key';
  if (status === Status.unsupported) return 'the server does not support this; use another server';
  return failures[volume];
}

/** Explains why a session could not be opened. */
export function loginFault(
  { host, port = defaults.SftpStoreSpec.port, legacyAlgorithms }: SftpSpec,
  login: SftpLogin,
  error: unknown,
): Error {
  if (error instanceof AgentError) return error;
  const message = messageOf(error);
  const { level } = error as { level?: string };
  const unreachable = (why: string) =>
    new AgentError(ExitCode.storeUnreachable, `cannot reach ${host}:${port}: ${why}; check host, port and network`);
  const refused = (why: string) => new AgentError(ExitCode.storeRefused, `${host}:${port}: ${why}`);
  const old = legacyAlgorithms ? '' : '; an old server needs legacyAlgorithms: true, at your own risk';

  if (/no matching host key/.test(message)) {
    const types = login.hostKeys.types?.join(', ') ?? 'known';
    return refused(
      `the server has no host key of the type that ${login.hostKeys.source} holds (${types}), or none that is safe to use${old}`,
    );
  }
  if (/no matching/.test(message))
    return refused(`the server and the agent have no common algorithm (${message})${old}`);
  if (level === 'client-authentication' || /authentication failures/i.test(message))
    return refused(loginRefused(login, old));
  if (level === 'sftp') return refused(`the server offers no SFTP (${message}); enable its sftp subsystem`);
  if (/before handshake/i.test(message)) return unreachable('the connection was closed before the SSH handshake');
  return unreachable(message);
}

function loginRefused({ key, password }: SftpLogin, old: string): string {
  const tried = [key && `private key (${key.type})`, password !== undefined && 'password']
    .filter(Boolean)
    .join(' and ');
  return `the login was refused (tried ${tried}); check username and credentials${key?.type === 'ssh-rsa' ? old : ''}`;
}
