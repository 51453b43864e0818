import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Target } from './target.ts';

const folder = join(import.meta.dirname, 'corpus');

/** A file that ends in .gz is compressed because it would be large. */
function filesIn(directory: string): { readonly name: string; readonly bytes: Buffer }[] {
  return readdirSync(directory)
    .sort()
    .map((name) => {
      const bytes = readFileSync(join(directory, name));
      return { name, bytes: name.endsWith('.packed.gz') ? gunzipSync(bytes) : bytes };
    });
}

export const corpusOf = ({ corpus }: Target): Buffer[] =>
  corpus.flatMap((each) => filesIn(join(folder, each)).map(({ bytes }) => bytes));

/** Inputs that once were counterexamples. */
export function regressionsOf({ name }: Target): { readonly name: string; readonly bytes: Buffer }[] {
  const all = readdirSync(join(folder, 'regressions'));
  return all.includes(name) ? filesIn(join(folder, 'regressions', name)) : [];
}

/** One file of the corpus, by its path. */
export const corpusFile = (path: string): Buffer => readFileSync(join(folder, path));
