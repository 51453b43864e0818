import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import type { SftpSpec } from '../spec.ts';
import type { SftpLogin } from './credentials.ts';

/** What SFTP servers answer, by the numbers of its protocol. */
export const Status = { noSuchFile: 2, permissionDenied: 3, failure: 4, badMessage: 5, unsupported: 8 } as const;

/** The server's answer; undefined when it was something else that went wrong. */
export function statusOf(error: unknown): number | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'number' && !(error instanceof AgentError) ? code : undefined;
}

/** ssh2 knows that the server lacks the extension, or the server says so. */
export const isUnsupported = (error: unknown): boolean =>
  statusOf(error) === Status.unsupported || /not support this extended request/.test(messageOf(error));

/** Undefined instead of an error when the path does not exist. */
export async function unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (statusOf(error) === Status.noSuchFile) return undefined;
    throw error;
  }
}

/** What a server's disk looks like after it failed without a reason. */
export type Volume = 'full' | 'read-only' | 'unknown';

const failures: Record<Volume, string> = {
  full: 'its disk is full; give it more room or keep fewer snapshots',
  'read-only': 'its disk is mounted read-only; mount it writable',
  unknown: 'it gives no reason; see whether its disk or quota is full, or what its log says',
};

/** One line that says what was tried where, the server's answer and what to do. */
export function sftpFault(url: string, doing: string, path: string, error: unknown, volume: Volume): AgentError {
  if (error instanceof AgentError && error.exitCode !== ExitCode.storeUnreachable) return error;
  const what = `${url}: cannot ${doing} ${path}`;
  const status = statusOf(error);
  if (status === undefined) return new AgentError(ExitCode.storeUnreachable, `${what}: ${messageOf(error)}`);
  const answer = `the server says '${messageOf(error).slice(0, 200)}' (${status})`;
  return new AgentError(ExitCode.storeRefused, `${what}: ${answer}: ${remedyOf(status, volume)}`, { cause: error });
}

function remedyOf(status: number, volume: Volume): string {
  if (status === Status.permissionDenied) return 'the user may not do that; change the owner or mode of the directory';
  if (status === Status.noSuchFile) return 'it is not there; something else deletes in this directory';
  if (status === Status.badMessage) return 'the name may be too long for it; choose a shorter cluster name or key';
  if (status === Status.unsupported) return 'the server cannot do that; use another one';
  return failures[volume];
}

/** Why no session came about. */
export function loginFault({ host, port = 22, legacyAlgorithms }: SftpSpec, login: SftpLogin, error: unknown): Error {
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
      `it has no host key of the type that ${login.hostKeys.source} holds (${types}), or none that is safe to use${old}`,
    );
  }
  if (/no matching/.test(message)) return refused(`it shares no algorithm with us (${message})${old}`);
  if (level === 'client-authentication' || /authentication failures/i.test(message))
    return refused(loginRefused(login, old));
  if (level === 'sftp') return refused(`it offers no SFTP (${message}); let it start the subsystem sftp`);
  if (/before handshake/i.test(message)) return unreachable('it ends the connection before it says that it speaks SSH');
  return unreachable(message);
}

function loginRefused({ key, password }: SftpLogin, old: string): string {
  const tried = [key && `private key (${key.type})`, password !== undefined && 'password']
    .filter(Boolean)
    .join(' and ');
  return `the login was refused; tried ${tried}; check username and credentials${key?.type === 'ssh-rsa' ? old : ''}`;
}
