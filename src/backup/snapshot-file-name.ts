import type { BackupScheduleSpec } from '../resource/types';

type Stored = Pick<BackupScheduleSpec, 'fileName' | 'compression' | 'encryption'>;

const ending = /\.db$/;

/** Returns the pattern without its file extension: the agent appends the extension itself. */
export const fileNameWithoutEnding = (fileName?: string): string | undefined => fileName?.replace(ending, '');

export function fileNameProblem({ fileName, compression, encryption }: Stored): string | undefined {
  if (fileName === undefined) return undefined;
  if (!/^(?:[A-Za-z0-9]|%[YmdHMS])(?:[A-Za-z0-9_+-]|%[YmdHMS])*$/.test(fileName.replace(ending, ''))) {
    return `fileName: '${fileName}' is not a valid file name; use letters, digits, '-', '_', '+' and %Y %m %d %H %M %S, without a file extension`;
  }
  if (!ending.test(fileName) || (compression === 'none' && !encryption)) return undefined;
  return `fileName: '${fileName}' would not end in .db; choose the compression none and no encryption, or leave .db out`;
}
