import { rows, rowsWithoutRecord } from '../../src/controllers/cluster/plan/actions.ts';
import type { AnyRow } from '../../src/controllers/cluster/plan/row.ts';

// The generated parts of docs/reference/state-machine.md: a diagram and the action table, both from the rows themselves.

/** Mermaid wants identifiers without blanks. */
const identifier = (state: string): string => state.replaceAll(' ', '_');

const all: readonly AnyRow[] = [...rowsWithoutRecord, ...rows];

interface Move {
  name: string;
  from: string;
  to: string;
}

const list = (states: AnyRow['from']): readonly string[] => [states ?? []].flat();

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

const listOf = (conjuncts: object): string => Object.keys(conjuncts).join('; ') || '–';

const line = ({ name, priority, when, requires, does }: AnyRow): string =>
  `| ${priority} | ${name} | ${listOf(when)} | ${listOf(requires)} | ${does ?? 'holds'} |`;

export const table = (of: readonly AnyRow[]): string =>
  ['| P | Action | wanted when | requires | does |', '|---|---|---|---|---|', ...of.map(line)].join('\n');

const parts = (): Record<string, string> => ({
  diagram: diagram(),
  'rows without a record': table(rowsWithoutRecord),
  rows: table(rows),
});

/** The page with its generated parts as they should be. */
export function generated(page: string): string {
  return Object.entries(parts()).reduce((text, [name, part]) => {
    const marked = new RegExp(`(<!-- generated: ${name} -->\n)[\\s\\S]*?(<!-- end -->)`);
    if (!marked.test(text)) throw new Error(`no place for the ${name}`);
    return text.replace(marked, (_, begin: string, end: string) => `${begin}${part}\n${end}`);
  }, page);
}
