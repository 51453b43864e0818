import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(__dirname, '..');

/** The README and all of docs/. */
export const guides = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `docs/${name}`),
];

/** Returns the blocks of code in that language, each with its location as its name. */
export function blocks(language: string): { readonly name: string; readonly code: string }[] {
  return guides.flatMap((guide) => {
    const text = readFileSync(join(root, guide), 'utf8');
    const found = text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'));
    return [...found].map(({ 1: code, index }) => ({
      name: `${guide}:${text.slice(0, index).split('\n').length + 1}`,
      code: code!,
    }));
  });
}
