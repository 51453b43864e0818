import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** When the first of the pod's certificates runs out; undefined without TLS, or when none can be read. */
export async function firstExpiry(directories: readonly (string | undefined)[]): Promise<string | undefined> {
  const given = directories.filter((directory) => directory !== undefined);
  const times = await Promise.all(
    given.map((directory) => expiryOf(join(directory, 'tls.crt')).catch(() => undefined)),
  );
  const first = Math.min(...times.filter((time) => time !== undefined));
  return Number.isFinite(first) ? new Date(first).toISOString() : undefined;
}

const expiryOf = async (file: string): Promise<number> =>
  new X509Certificate(await readFile(file)).validToDate.getTime();
