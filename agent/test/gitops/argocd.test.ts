import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { files, read } from './argocd.ts';

const made = files();

test.each([...made.keys()])('%s is current; npm run generate writes it', (name) => {
  const file = join(import.meta.dirname, '../../..', name);
  if (process.env.UPDATE_DOCS) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, made.get(name)!);
  }
  expect(read(name)).toBe(made.get(name));
});
