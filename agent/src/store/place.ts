import { posix } from 'node:path';
import type { StoreSpec } from './spec.ts';

/** The store at another path. Undefined for a store of commands, whose path is that of its programs. */
function at(spec: StoreSpec, change: (path: string) => string | undefined): StoreSpec | undefined {
  const { s3, oss, sftp, filesystem } = spec;
  const path = filesystem?.path ?? sftp?.path ?? s3?.prefix ?? oss?.prefix ?? '';
  const moved = change(path);
  if (moved === undefined) return undefined;
  if (filesystem) return { ...spec, filesystem: { path: moved || '/' } };
  if (sftp) return { ...spec, sftp: { ...sftp, path: moved } };
  if (s3) return { ...spec, s3: withPrefix(s3, moved) };
  return oss && { ...spec, oss: withPrefix(oss, moved) };
}

function withPrefix<T extends { readonly prefix?: string | undefined }>({ prefix: _, ...rest }: T, moved: string) {
  return { ...(rest as T), ...(moved !== '' && { prefix: moved }) };
}

const trimmed = (path: string) => path.replace(/(?<=.)\/+$/, '');

/** The store whose root is this folder of the store. */
export const below = (spec: StoreSpec, folder: string): StoreSpec | undefined =>
  at(spec, (path) => posix.join(path, folder));

/** The store that has this one as its folder of that name. Undefined if the path does not end so. */
export const above = (spec: StoreSpec, folder: string): StoreSpec | undefined =>
  at(spec, (path) => {
    const whole = trimmed(path);
    if (whole === folder) return '';
    return whole.endsWith(`/${folder}`) ? whole.slice(0, -folder.length - 1) : undefined;
  });

/** The store one folder higher. Undefined at the top. */
export const parentOf = (spec: StoreSpec): StoreSpec | undefined =>
  at(spec, (path) => {
    const whole = trimmed(path);
    const parent = posix.dirname(whole);
    return whole === '' || parent === whole || parent === '/' ? undefined : parent === '.' ? '' : parent;
  });
