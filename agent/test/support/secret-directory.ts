import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface SecretDirectory {
  readonly path: string;
  /** Replaces all files at once by a new link to the data, as the kubelet does. */
  replace(files: Record<string, string>): void;
}

/** A directory like a mounted Secret: links into `..data`, which is a link to the data. */
export function secretDirectory(path: string, files: Record<string, string>): SecretDirectory {
  mkdirSync(path);
  let version = 0;
  const replace = (contents: Record<string, string>) => {
    const data = `..${version++}`;
    mkdirSync(join(path, data));
    for (const [name, value] of Object.entries(contents)) writeFileSync(join(path, data, name), value);
    symlinkSync(data, join(path, '..new'));
    renameSync(join(path, '..new'), join(path, '..data'));
  };
  replace(files);
  for (const name of Object.keys(files)) symlinkSync(join('..data', name), join(path, name));
  return { path, replace };
}
