import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';

/** The names of a Secret's files. */
export async function credentialFiles(directory: string): Promise<string[]> {
  try {
    // A mounted Secret has its data under ..data, and links to them.
    return (await readdir(directory)).filter((name) => !name.startsWith('.'));
  } catch (error) {
    const message = `credentialsDirectory ${directory}: cannot be read (${codeOf(error)}); mount the Secret there`;
    throw new AgentError(ExitCode.usage, message);
  }
}

/** A script's words without any line of the Secret's files. */
export async function withoutSecrets(words: string, directory: string | undefined): Promise<string> {
  if (!directory) return words;
  const names = await credentialFiles(directory).catch(() => []);
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8').catch(() => '')));
  // What is too short to be a secret would only tear words.
  const secrets = texts.flatMap((text) => text.split(/\s*\n\s*/)).filter(({ length }) => length > 3);
  return secrets.reduce((sofar, secret) => sofar.replaceAll(secret, '***'), words);
}
