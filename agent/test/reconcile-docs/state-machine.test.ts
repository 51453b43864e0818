import { readFile, writeFile } from 'node:fs/promises';
import { rules, rulesWithoutRecord } from '../../src/controllers/cluster/operations/rules.ts';
import { generated, moves } from './state-machine.ts';

const page = new URL('../../../docs/reference/state-machine.md', import.meta.url);

test('docs/reference/state-machine.md shows the current rules; UPDATE_DOCS=1 writes it again', async () => {
  const text = await readFile(page, 'utf8');
  if (process.env.UPDATE_DOCS) await writeFile(page, generated(text));
  else expect(text).toBe(generated(text));
});

test('every rule has its own name, and an effect or a hold', () => {
  const all = [...rulesWithoutRecord, ...rules];
  // The finalizer and the first holds are in both tables.
  expect(new Set(all.map(({ name }) => name)).size).toBe(new Set(all).size);
  expect(
    all.filter(({ effect, does, hold }) => (effect === undefined) === (hold === undefined) || !effect !== !does),
  ).toEqual([]);
});

test('every state can be reached, and every state except the last can be left', () => {
  const from = new Set(moves().map((move) => move.from));
  const to = new Set(moves().map((move) => move.to));
  expect([...from].filter((state) => !to.has(state))).toEqual(['no record']);
  expect([...to].filter((state) => !from.has(state))).toEqual(['gone']);
});
