import { readdirSync, readFileSync } from 'node:fs';
import type { AnyRule } from '../../src/controllers/cluster/engine/rule.ts';
import { rules, rulesWithoutRecord } from '../../src/controllers/cluster/operations/rules.ts';

// The generated parts of docs/reference/state-machine.md: a diagram and the table of rules.

/** Mermaid wants identifiers without blanks. */
const identifier = (state: string): string => state.replaceAll(' ', '_');

const all: readonly AnyRule[] = [...rulesWithoutRecord, ...rules];

interface Move {
  name: string;
  from: string;
  to: string;
}

const list = (states: AnyRule['from']): readonly string[] => [states ?? []].flat();

export const moves = (): Move[] =>
  all
    .flatMap(({ name, from, to }) =>
      list(from).flatMap((before) => list(to).map((after) => ({ name, from: before, to: after }))),
    )
    .filter(({ from, to }) => from !== to);

const edges = (): Map<string, string[]> => {
  const found = new Map<string, string[]>();
  for (const { name, from, to } of moves()) {
    const edge = `${identifier(from)} --> ${identifier(to)}`;
    found.set(edge, [...(found.get(edge) ?? []), name]);
  }
  return found;
};

const states = (): string[] => [...new Set(moves().flatMap(({ from, to }) => [from, to]))];

export function diagram(): string {
  const named = states().map((state) => `  state "${state}" as ${identifier(state)}`);
  const arrows = [...edges()].map(([edge, names]) => `  ${edge} : ${[...new Set(names)].join(', ')}`);
  return ['```mermaid', 'stateDiagram-v2', ...named, '  [*] --> no_record', ...arrows, '  gone --> [*]', '```'].join(
    '\n',
  );
}

const listOf = (guards: object): string => Object.keys(guards).join('; ') || '–';

const operations = new URL('../../src/controllers/cluster/operations/', import.meta.url);

/** The file of each rule by its name, below operations/. */
const files = new Map(
  readdirSync(operations, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) =>
      [...readFileSync(new URL(file, operations), 'utf8').matchAll(/\bname: '([\w.]+)'/g)].map(
        ([, name]) => [name!, file] as const,
      ),
    ),
);

function fileOf({ name }: AnyRule): string {
  const file = files.get(name);
  if (file === undefined) throw new Error(`no file in operations/ has the rule ${name}`);
  return file;
}

const line = (rule: AnyRule): string =>
  `| ${rule.name} | ${listOf(rule.when)} | ${listOf(rule.requires)} | ${rule.does ?? 'holds'} | ${fileOf(rule)} |`;

export const table = (of: readonly AnyRule[]): string =>
  ['| Rule | wanted when | requires | does | file |', '|---|---|---|---|---|', ...of.map(line)].join('\n');

const parts = (): Record<string, string> => ({
  diagram: diagram(),
  'rules without a record': table(rulesWithoutRecord),
  rules: table(rules),
});

/** The page with its generated parts as they should be. */
export function generated(page: string): string {
  return Object.entries(parts()).reduce((text, [name, part]) => {
    const marked = new RegExp(`(<!-- generated: ${name} -->\n)[\\s\\S]*?(<!-- end -->)`);
    if (!marked.test(text)) throw new Error(`no place for the ${name}`);
    return text.replace(marked, (_, begin: string, end: string) => `${begin}${part}\n${end}`);
  }, page);
}
