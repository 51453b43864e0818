// Fails if two files export a type of the same name: a reader could not know which one is meant.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/steps.mjs';
import { sourcesOf } from './sources.mjs';

const files = new Map();
for (const file of sourcesOf('src', 'agent/src')) {
  const text = readFileSync(join(root, file), 'utf8');
  for (const [, name] of text.matchAll(/^export (?:abstract )?(?:interface|type|class|enum) (\w+)/gm))
    files.set(name, [...(files.get(name) ?? []), file]);
}
for (const [name, places] of files) {
  if (new Set(places).size === 1) continue;
  console.error(`${name} is exported by ${places.join(' and ')}: rename one`);
  process.exitCode = 1;
}
