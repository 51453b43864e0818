import { glob, readFile } from 'node:fs/promises';

/** Prefix that the container runtime puts before each line. */
const CRI = /^(\S+) (?:stdout|stderr) [FP] (.*)$/;
const BAD = /"level":"(?:error|fatal|panic|dpanic)"|^panic:|^fatal error:/;

/** Finds the lines in etcd's log that report errors since a given time. etcd writes JSON; the container runtime adds a timestamp prefix. */
export async function logErrors(
  patterns: readonly string[],
  since: Date,
): Promise<{ files: string[]; errors: string[] }> {
  const files: string[] = [];
  for (const pattern of patterns) for await (const file of glob(pattern)) files.push(file);
  const errors: string[] = [];
  for (const file of files.sort()) {
    const text = await readFile(file, 'utf8').catch(() => '');
    errors.push(...text.split('\n').flatMap((line) => errorIn(line, since)));
  }
  return { files, errors };
}

function errorIn(line: string, since: Date): string[] {
  const [, stamped, rest] = CRI.exec(line) ?? [];
  const message = rest ?? line;
  if (!BAD.test(message)) return [];
  const time = Date.parse(stamped ?? /"ts":"([^"]+)"/.exec(message)?.[1] ?? '');
  return time < since.getTime() ? [] : [message.slice(0, 400)];
}
