import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { otherNames } from './other-names';

const root = join(__dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const fields = readdirSync(join(root, 'crds')).map((file) => read(`crds/${file}`));
const known = [read('API.md'), ...fields].join('\n');

const isKnown = (name: string): boolean => new RegExp(`^\\s*${name}:|readonly ${name}\\??:`, 'm').test(known);

// An entry with a name that nothing has would never be used, or would send a user astray.
test.each(Object.entries(otherNames))('%s is a name of one side, and its remedy of the other', (name, remedy) => {
  const [first = ''] = /^[\w.]+/.exec(remedy) ?? [];
  for (const word of first.split('.')) expect([word, isKnown(word)]).toEqual([word, true]);
  if (name !== 'replicas') expect([name, isKnown(name)]).toEqual([name, true]);
});
