import { constants, type FileHandle, open } from 'node:fs/promises';
import { codeOf } from '../errors.ts';

/**
 * Opens a file that somebody else put into a directory. Undefined if it is not a regular file: to open a named pipe would
 * wait for a writer for ever.
 */
export async function openRegular(path: string): Promise<FileHandle | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error) => {
    // A socket, or a device without a driver.
    if (codeOf(error) === 'ENXIO') return undefined;
    throw error;
  });
  if (!file || (await isRegular(file))) return file;
  await file.close();
  return undefined;
}

async function isRegular(file: FileHandle): Promise<boolean> {
  try {
    return (await file.stat()).isFile();
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Reads such a file. Empty if it is not a regular file. */
export async function readRegular(path: string): Promise<Buffer> {
  await using file = await openRegular(path);
  return file ? await file.readFile() : Buffer.alloc(0);
}
