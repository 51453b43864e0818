import { AgentError, codeOf, ExitCode, messageOf, usageError } from '../errors.ts';
import type { Finding } from '../finding.ts';
import { unlessMissing } from './directories.ts';

const uid = () => `uid ${process.getuid?.()}`;
const mayNotRead = () => `${uid()} has no right to read it; change the owner or mode`;
const mayNotWrite = () => `${uid()} has no right to write there; change the owner or mode`;
const notDirectory = () => 'part of the path is not a directory; check the path';
const isDirectory = () => 'it is a directory; name a file';
const diskError = () => 'the disk reports an error; check it';

type Remedies = Readonly<Record<string, () => string>>;

const reading: Remedies = {
  ENOENT: () => 'it does not exist; check the path',
  ENOTDIR: notDirectory,
  EISDIR: isDirectory,
  EACCES: mayNotRead,
  EPERM: mayNotRead,
  EIO: diskError,
};

const writing: Remedies = {
  ENOSPC: () => 'the disk is full; make room there',
  EDQUOT: () => 'the disk quota is used up; make room there',
  EROFS: () => 'the file system is read-only; mount it writable, or choose another path',
  EACCES: mayNotWrite,
  EPERM: mayNotWrite,
  ENOENT: () => 'there is no such directory; check the path',
  ENOTDIR: notDirectory,
  EISDIR: isDirectory,
  EEXIST: () => 'something else is there; move it away',
  EBUSY: () => 'it is a mount point; name a directory below it',
  EIO: diskError,
};

/** End of a message about a file that cannot be read: the system's error code, what it means, and what to do. */
export const readFault = (error: unknown): string => faultOf(error, reading);

/** Error for a path where something may be that cannot be read. `so`: what is therefore not done or not known, and a way out. */
export const cannotRead = (path: string, error: unknown, so: string, finding?: Finding): AgentError =>
  new AgentError(ExitCode.refused, `${path} cannot be read ${readFault(error)}; ${so}`, { cause: error, finding });

/** Resolves to undefined if nothing is at the path. What cannot be read may be there: then it throws, with `so`. */
export const ifThere = <T>(path: string, call: Promise<T>, so: string): Promise<T | undefined> =>
  unlessMissing(call).catch((error) => {
    throw cannotRead(path, error, so);
  });

/** Usage error for a path that cannot be written. `at`: the setting that names the path. */
export const cannotWrite = (path: string, error: unknown, at?: string): AgentError =>
  usageError(`cannot write ${path} ${faultOf(error, writing)}`, { cause: error, at });

function faultOf(error: unknown, remedies: Remedies): string {
  const code = codeOf(error);
  const remedy = code !== undefined && Object.hasOwn(remedies, code) ? remedies[code] : undefined;
  return remedy ? `(${code}): ${remedy()}` : `(${messageOf(error)})`;
}
