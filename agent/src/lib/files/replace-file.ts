import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sync } from './directories.ts';

/** The whole new content or the old one, whatever happens meanwhile; on the disk when it returns. */
export async function replaceFile(file: string, content: string): Promise<void> {
  // One name, so that a crash leaves one file behind and the next write takes it.
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
