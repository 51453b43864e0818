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
  at = 'ageRecipient',
): Promise<string[]> {
  const recipients = new Set<string>();
  const add = async (text: string, where: Where) => {
    await checkRecipient(text, where);
    recipients.add(text);
  };
  for (const text of given) await add(text.trim(), { at, what: 'the value' });
  for (const file of files) await forEachLine('ageRecipientsFile', file, add);
  const all = [...recipients];
  if (all.some(isPostQuantum) && !all.every(isPostQuantum)) {
    throw usageError(
      'some recipients are post-quantum and some are not, so none would be protected; pass one kind only',
      { at },
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
    await forEachLine('ageIdentityFile', file, async (text, where) => {
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
  if (files.length === 0) throw usageError(`the directory ${path} has no files`, { at: 'ageIdentityFile' });
  return files.map((name) => join(path, name));
}

/** The setting that a text belongs to, and where it is in it. */
interface Where {
  readonly at: string;
  readonly what: string;
}

async function checkRecipient(text: string, { at, what }: Where): Promise<void> {
  if (isSecret(text)) {
    throw usageError(
      `${what} is a secret key, which must not be here; pass its recipient, which \`age-keygen -y\` prints`,
      { at },
    );
  }
  if (!text.startsWith('age1')) throw usageError(`${what} is not an age recipient; write age1…`, { at });
  try {
    const encrypter = new Encrypter();
    encrypter.addRecipient(text);
    // Some keys look valid but cannot be used for encryption.
    await encrypter.encrypt('');
  } catch {
    throw usageError(
      `${what} is not a valid age recipient; check it for typing errors: it begins with ${text.slice(0, 12)}`,
      { at },
    );
  }
}

function checkIdentity(text: string, { at, what }: Where): void {
  if (text.startsWith('age1')) {
    throw usageError(`${what} is a recipient, which cannot decrypt; pass its identity, AGE-SECRET-KEY-…`, { at });
  }
  try {
    new Decrypter().addIdentity(text);
  } catch {
    throw usageError(
      `${what} is not an age identity; use AGE-SECRET-KEY-1… or AGE-SECRET-KEY-PQ-1…, without a passphrase`,
      { at },
    );
  }
}

/** Calls `use` for each line that is neither empty nor a comment. */
async function forEachLine(
  at: string,
  file: string,
  use: (text: string, where: Where) => Promise<void>,
): Promise<void> {
  const content = await readFile(file, 'utf8').catch((error) => {
    throw usageError(`cannot read ${file} ${readFault(error)}`, { at });
  });
  let found = false;
  for (const [index, line] of content.split('\n').entries()) {
    const text = line.trim();
    if (!text || text.startsWith('#')) continue;
    found = true;
    await use(text, { at, what: `${file}: line ${index + 1}` });
  }
  if (!found) throw usageError(`${file} is empty`, { at });
}
