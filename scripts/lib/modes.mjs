// What ships has the same modes on every machine, whatever the umask of the shell and of the checkout.
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** For everything that this process and its programs create. */
export const umask = 0o022;

/** Lets everyone read what is in a directory, and the directory itself. */
export function normalizeModes(directory) {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) chmodSync(path, 0o755);
    else if (entry.isFile()) chmodSync(path, statSync(path).mode & 0o100 ? 0o755 : 0o644);
  }
}
