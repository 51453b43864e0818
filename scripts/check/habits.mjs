// Fails if two files export a type of the same name: a reader could not know which one is meant.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/steps.mjs';

const exclude = ['**/*.test.ts', '**/*.suite.ts', '**/*.fixture.ts'];
const files = new Map();
for (const file of globSync(['src/**/*.ts', 'agent/src/**/*.ts'], { cwd: root, exclude })) {
  const text = readFileSync(join(root, file), 'utf8');
  for (const [, name] of text.matchAll(/^export (?:abstract )?(?:interface|type|class|enum) (\w+)/gm))
    files.set(name, [...(files.get(name) ?? []), file]);
}
for (const [name, places] of files) {
  if (new Set(places).size === 1) continue;
  console.error(`${name} is exported by ${places.join(' and ')}: rename one`);
  process.exitCode = 1;
}
