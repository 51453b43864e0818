import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Output } from '../../e2e/support/kubectl';
import { root } from '../../guides';

/** Runs the commands of a section of a guide, unchanged except for these names. Returns their output. */
export async function typed(guide: string, section: string, names: Readonly<Record<string, string>>): Promise<Output> {
  return type(commandsOf(guide, section), names);
}

/** Runs one line of shell with these names. */
export async function type(command: string, names: Readonly<Record<string, string>> = {}): Promise<Output> {
  const line = Object.entries(names).reduce((text, [from, to]) => text.replaceAll(from, to), command);
  // Jest's process.env is a copy, which children do not inherit by themselves.
  return promisify(execFile)('sh', ['-e', '-c', line], { env: process.env, maxBuffer: 1024 ** 3 });
}

/** The commands of a section of a guide. */
export function commandsOf(guide: string, section: string): string {
  const text = readFileSync(join(root, guide), 'utf8');
  const [, body] = text.split(new RegExp(`^#+ ${section}\n`, 'm'));
  if (body === undefined) throw new Error(`${guide} has no section '${section}'`);
  const [own = ''] = body.split(/^#+ /m);
  const blocks = [...own.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, code]) => code);
  if (blocks.length === 0) throw new Error(`${guide}: '${section}' has no commands`);
  return blocks.join('');
}
