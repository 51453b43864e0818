import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sync } from './directories.ts';

/** Replaces a file atomically and durably: after a crash it has either the whole new content or the old one. */
export async function replaceFile(file: string, content: string): Promise<void> {
  // A fixed name: after a crash at most one temporary file remains, and the next write reuses it.
  const temporary = `${file}.tmp`;
  try {
    const handle = await open(temporary, 'w', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
  await sync(dirname(file));
}
