import type { Command } from 'commander';
import { buildProgram, commandNames } from './program.ts';

const program = buildProgram(async () => {});
const parents = program.commands.flatMap((command) => (command.commands.length > 0 ? [command] : []));
const all: [string, Command][] = [program, ...parents].flatMap((parent) =>
  parent.commands
    .filter(({ commands }) => commands.length === 0)
    .map((command): [string, Command] => [
      parent === program ? command.name() : `${parent.name()} ${command.name()}`,
      command,
    ]),
);
const pods = ['gate', 'serve', 'reconcile', 'salvage', 'keep-image', 'restore serve'];

/** Names of the commands in a section of the help. */
const section = (of: Command, heading: string) => {
  const [, text = ''] = of.helpInformation().split(`\n${heading}:\n`);
  const lines = text.split('\n\n')[0]!.split('\n');
  return lines.flatMap((line) => /^ {2}((?:restore )?[a-z-]+)/.exec(line)?.[1] ?? []);
};

test('the help lists the commands of users first, and those that pods run in a group of their own', () => {
  const users = commandNames.filter((name) => !name.includes(' ') && !pods.includes(name));
  expect(section(program, 'Commands')).toEqual([...users, 'restore', 'help']);
  expect(section(program, 'Commands that pods run')).toEqual(pods);
  const help = program.helpInformation();
  expect(help.indexOf('\nCommands:')).toBeLessThan(help.indexOf('\nCommands that pods run:'));
});

test('so does the help of restore', () => {
  const [restore] = parents;
  expect(section(restore!, 'Commands')).toEqual(['fetch', 'extra', 'data-dir', 'control-plane', 'help']);
  expect(section(restore!, 'Commands that pods run')).toEqual(['serve']);
});

test('every command is in the help', () => {
  expect(all.map(([name]) => name).sort()).toEqual([...commandNames].sort());
});

test('a flag takes the same kind of value in every command', () => {
  // A destination is a store for copy, and a file for restore.
  const exceptions = ['--to'];
  const kinds = new Map<string, Set<string>>();
  for (const [, { options }] of all) {
    for (const { long, flags } of options) {
      const kind = /<.*>/.exec(flags)?.[0] ?? '';
      kinds.set(long!, (kinds.get(long!) ?? new Set()).add(kind));
    }
  }
  const mixed = [...kinds].filter(([name, found]) => found.size > 1 && !exceptions.includes(name));
  expect(mixed.map(([name, found]) => `${name} ${[...found].join(' ')}`)).toEqual([]);
});

test.each(all)('%s: the help of every flag is one phrase without a full stop', (_name, { options }) => {
  const odd = options.filter(({ description }) => description === '' || description.endsWith('.'));
  expect(odd.map(({ flags }) => flags)).toEqual([]);
});
