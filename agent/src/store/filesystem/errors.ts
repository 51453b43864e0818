import { AgentError, codeOf, ExitCode, messageOf } from '../../lib/errors.ts';

const user = `user ${process.getuid?.() ?? 'unknown'}, group ${process.getgid?.() ?? 'unknown'}`;
const permission = `not allowed for ${user}; change its owner or mode, or set the pod's fsGroup`;

const notDirectory = 'it, or a part of its path, is not a directory; name a directory';

const refusals: Record<string, string> = {
  EACCES: permission,
  EDQUOT: 'its quota is used up; raise the quota or keep fewer snapshots',
  EEXIST: notDirectory,
  EISDIR: 'it is a directory; choose another key',
  ENAMETOOLONG: 'the name is too long for this file system; choose a shorter cluster name or key',
  ENOSPC: 'it is full; give it more room or keep fewer snapshots',
  ENOTDIR: notDirectory,
  EPERM: permission,
  EROFS: 'it is mounted read-only; mount it writable',
};

/** One line that says what was tried where, the system's code and what to do. */
export function filesystemFault(url: string, doing: string, path: string, error: unknown): AgentError {
  const code = codeOf(error) ?? '';
  const remedy = refusals[code];
  const detail = remedy ? `${code}: ${remedy}` : `${messageOf(error)}; check the volume and try again`;
  const exitCode = remedy ? ExitCode.storeRefused : ExitCode.storeUnreachable;
  return new AgentError(exitCode, `${url}: cannot ${doing} ${path}: ${detail}`, { cause: error });
}
