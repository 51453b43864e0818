import { readdir } from 'node:fs/promises';
import { codeOf, usageError } from '../lib/errors.ts';

/** Sorted names of the files of a mounted Secret. Throws a usage error if the directory cannot be read. */
export async function secretFiles(directory: string): Promise<string[]> {
  try {
    // Kubernetes keeps a mounted Secret's data below ..data and links to it.
    return (await readdir(directory)).filter((name) => !name.startsWith('.')).sort();
  } catch (error) {
    throw usageError(`credentialsDirectory ${directory}: cannot be read (${codeOf(error)}); mount the Secret there`);
  }
}

/**
 * Replaces every secret in a text by `***`. Skips texts of up to three characters: replacing those would garble
 * words.
 */
export const hideSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.filter(({ length }) => length > 3).reduce((sofar, secret) => sofar.replaceAll(secret, '***'), text);
