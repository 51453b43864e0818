import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Decrypter, Encrypter } from 'age-encryption';
import { usageError } from '../../lib/errors.ts';
import { readFault } from '../../lib/files/file-faults.ts';

const isSecret = (text: string) => /age-secret-key|age-plugin/i.test(text);
const isPostQuantum = (recipient: string) => /^age1(tag)?pq1/.test(recipient);

/** Returns the recipients from flags and from files, without duplicates. */
export async function readRecipients(
  given: readonly string[],
  files: readonly string[],
  flag = '--age-recipient',
): Promise<string[]> {
  const recipients = new Set<string>();
  const add = async (text: string, where: string) => {
    await checkRecipient(text, where);
    recipients.add(text);
  };
  for (const text of given) await add(text.trim(), `${flag}: the value`);
  for (const file of files) await forEachLine('--age-recipients-file', file, add);
  const all = [...recipients];
  if (all.some(isPostQuantum) && !all.every(isPostQuantum)) {
    throw usageError(
      `${flag}: some recipients are post-quantum and some are not, so none would be protected; pass one kind only`,
    );
  }
  return all;
}

/**
 * Reads age identities. They are secret, so no message repeats any of their text. A directory, such as a mounted
 * Secret, stands for every file in it.
 */
export async function readIdentities(paths: readonly string[]): Promise<string[]> {
  const identities: string[] = [];
  for (const file of (await Promise.all(paths.map(filesOf))).flat()) {
    await forEachLine('--age-identity-file', file, async (text, where) => {
      checkIdentity(text, where);
      identities.push(text);
    });
  }
  return identities;
}

async function filesOf(path: string): Promise<string[]> {
  // Any other problem of the path is reported when the file is read.
  const names = await readdir(path).catch(() => undefined);
  if (names === undefined) return [path];
  // The names of kubelet's own files begin with two dots.
  const files = names.filter((name) => !name.startsWith('..')).sort();
  if (files.length === 0) throw usageError(`--age-identity-file: the directory ${path} has no files`);
  return files.map((name) => join(path, name));
}

async function checkRecipient(text: string, where: string): Promise<void> {
  if (isSecret(text)) {
    throw usageError(
      `${where} is a secret key, which must not be here; pass its recipient, which \`age-keygen -y\` prints`,
    );
  }
  if (!text.startsWith('age1')) throw usageError(`${where} is not an age recipient; write age1…`);
  try {
    const encrypter = new Encrypter();
    encrypter.addRecipient(text);
    // Some keys look valid but cannot be used for encryption.
    await encrypter.encrypt('');
  } catch {
    throw usageError(
      `${where} is not a valid age recipient; check it for typing errors: it begins with ${text.slice(0, 12)}`,
    );
  }
}

function checkIdentity(text: string, where: string): void {
  if (text.startsWith('age1')) {
    throw usageError(`${where} is a recipient, which cannot decrypt; pass its identity, AGE-SECRET-KEY-…`);
  }
  try {
    new Decrypter().addIdentity(text);
  } catch {
    throw usageError(
      `${where} is not an age identity; use AGE-SECRET-KEY-1… or AGE-SECRET-KEY-PQ-1…, without a passphrase`,
    );
  }
}

/** Calls `use` for each line that is neither empty nor a comment. */
async function forEachLine(
  flag: string,
  file: string,
  use: (text: string, where: string) => Promise<void>,
): Promise<void> {
  const content = await readFile(file, 'utf8').catch((error) => {
    throw usageError(`${flag}: cannot read ${file} ${readFault(error)}`);
  });
  let found = false;
  for (const [index, line] of content.split('\n').entries()) {
    const text = line.trim();
    if (!text || text.startsWith('#')) continue;
    found = true;
    await use(text, `${flag}: ${file}: line ${index + 1}`);
  }
  if (!found) throw usageError(`${flag}: ${file} is empty`);
}
