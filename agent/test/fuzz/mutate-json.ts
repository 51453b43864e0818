import fc from 'fast-check';
import { type Document, isCollection, isScalar, parseAllDocuments, visit } from 'yaml';
import type { Change } from './mutate.ts';

/** JSON that may be what JSON.stringify cannot write: two equal keys, numbers of any size, any depth. */
type Node = { readonly raw: string } | { readonly list: Node[] } | { readonly pairs: [key: string, value: Node][] };

/** Deeper documents are left to the mutations of text. */
const DEEPEST = 200;

function nodeOf(value: unknown, depth = 0): Node {
  if (depth > DEEPEST) throw new Error('too deep');
  if (Array.isArray(value)) return { list: value.map((each) => nodeOf(each, depth + 1)) };
  if (value === null || typeof value !== 'object') return { raw: JSON.stringify(value) ?? 'null' };
  return { pairs: Object.entries(value).map(([key, each]) => [key, nodeOf(each, depth + 1)]) };
}

function textOf(node: Node): string {
  if ('raw' in node) return node.raw;
  if ('list' in node) return `[${node.list.map(textOf).join(',')}]`;
  return `{${node.pairs.map(([key, value]) => `${JSON.stringify(key)}:${textOf(value)}`).join(',')}}`;
}

/** Position of a value, which can be replaced and removed. */
interface Slot {
  readonly node: Node;
  set(node: Node): void;
  remove(): void;
  copy(): void;
  rename(key: string): void;
}

function slotsOf(root: { node: Node }): Slot[] {
  const none = () => {};
  const found: Slot[] = [];
  const visit = (node: Node, slot: Omit<Slot, 'node'>): void => {
    found.push({ node, ...slot });
    if ('raw' in node || found.length > 3_000) return;
    const items: (Node | [string, Node])[] = 'list' in node ? node.list : node.pairs;
    for (const item of items) {
      const remove = () => void items.splice(items.indexOf(item), 1);
      const copy = () => void items.splice(items.indexOf(item), 0, item);
      if (Array.isArray(item)) {
        const [, value] = item;
        const set = (to: Node) => void Object.assign(item, { 1: to });
        visit(value, { set, remove, copy, rename: (key) => void Object.assign(item, { 0: key }) });
      } else visit(item, { set: (to) => void items.splice(items.indexOf(item), 1, to), remove, copy, rename: none });
    }
  };
  visit(root.node, { set: (node) => void Object.assign(root, { node }), remove: none, copy: none, rename: none });
  return found;
}

const quote = (text: string) => JSON.stringify(text);
const deep = (open: string, close: string, depth: number, inside = ''): string =>
  open.repeat(depth) + inside + close.repeat(depth);

const scalars = [
  ...['null', 'true', 'false', '0', '-1', '1', '2', '-0', '0.5', '1e999', '-1e999', '1e-400', '9007199254740991'],
  ...[
    '9007199254740992',
    '-9007199254740993',
    '4294967296',
    '2147483648',
    '1e21',
    '[]',
    '{}',
    '[[]]',
    '[null]',
    '[{}]',
  ],
  ...[
    '""',
    '" "',
    '"0"',
    '"a"',
    '"a/b"',
    '"../../x"',
    '"/"',
    '"."',
    '"\\u0000"',
    '"\\ud800"',
    '"\\u2028\\n\\u001b[31m"',
  ],
  ...['"__proto__"', '"constructor"', '"9999-12-31T23:59:59Z"', '"0000-01-01T00:00:00Z"', '"2026-02-30T00:00:00Z"'],
  ...['"2026-01-01T00:00:00.123456789123Z"', '"2026-01-01"', '"unknown"', '"ffffffffffffffff"', '"https://x:1"'],
  ...['{"toString":1}', '{"valueOf":1,"toString":1}', '{"length":4294967296}', '{"then":1}', '{"__proto__":{"a":1}}'],
];

const raw: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...scalars) },
  fc.nat(100_000).map((length) => quote('x'.repeat(length))),
  fc.nat(20_000).map((length) => quote(`x${' '.repeat(length)}x`)),
  fc.nat(2_000).map((length) => `[${Array.from({ length }, (_, n) => n).join()}]`),
  fc.nat(40_000).map((depth) => deep('[', ']', depth)),
  fc.nat(20_000).map((depth) => deep('{"a":', '}', depth, '1')),
  fc.string({ maxLength: 20 }).map(quote),
);

const keys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'length',
  'then',
  '',
  ' ',
  '0',
  'a.b',
];

type Edit = (slots: readonly Slot[], which: number, root: { node: Node }, other: Node) => void;

const edit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 4,
    arbitrary: raw.map(
      (text): Edit =>
        (slots, which) =>
          slots[which]!.set({ raw: text }),
    ),
  },
  fc.constant<Edit>((slots, which) => slots[which]!.remove()),
  fc.constant<Edit>((slots, which) => slots[which]!.copy()),
  fc.constantFrom(...keys).map(
    (key): Edit =>
      (slots, which) =>
        slots[which]!.rename(key),
  ),
  fc.constantFrom(...keys).chain((key) =>
    raw.map(
      (text): Edit =>
        (slots, which) => {
          const { node } = slots[which]!;
          if ('pairs' in node) node.pairs.push([key, { raw: text }]);
        },
    ),
  ),
  // The value of another place, also as a text, or in a list.
  fc.nat(3_000).map(
    (from): Edit =>
      (slots, which) =>
        slots[which]!.set({ raw: textOf(slots[from % slots.length]!.node) }),
  ),
  fc.nat(3_000).map(
    (from): Edit =>
      (slots, which) =>
        slots[which]!.set({ raw: quote(textOf(slots[from % slots.length]!.node)) }),
  ),
  fc.constant<Edit>((slots, which) => slots[which]!.set({ list: [{ raw: textOf(slots[which]!.node) }] })),
  fc.constant<Edit>((slots, which) => slots[which]!.set({ pairs: [['a', { raw: textOf(slots[which]!.node) }]] })),
  // A value inside itself, many times: schemas that refer to themselves.
  fc.tuple(fc.nat(20), fc.oneof(fc.nat(4), fc.nat(6_000))).map(
    ([child, times]): Edit =>
      (slots, which) => {
        const slot = slots[which]!;
        if (!('pairs' in slot.node) || slot.node.pairs.length === 0) return;
        const { pairs } = slot.node;
        const at = child % pairs.length;
        const [before, after] = textOf({ pairs: pairs.with(at, [pairs[at]![0], { raw: '\0' }]) }).split('\0');
        const most = Math.floor(600_000 / (before!.length + after!.length));
        slot.set({ raw: deep(before!, after!, Math.min(times, most), textOf(pairs[at]![1])) });
      },
  ),
  fc.nat(3_000).map(
    (from): Edit =>
      (slots, which, _, other) => {
        const theirs = slotsOf({ node: other });
        slots[which]!.set({ raw: textOf(theirs[from % theirs.length]!.node) });
      },
  ),
);

function tryParse(text: string): Node | undefined {
  try {
    return nodeOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Changes one value of a document; of lines of JSON, in one line. */
export const jsonMutation: fc.Arbitrary<Change> = fc.tuple(fc.nat(1_000), fc.nat(3_000), edit, fc.nat(1_000)).map(
  ([line, which, change, other]): Change =>
    (input, { corpus }) => {
      const text = input.toString();
      const theirs = tryParse(corpus[other % corpus.length]!.toString()) ?? { raw: 'null' };
      const whole = tryParse(text);
      if (whole) return Buffer.from(changed(whole, which, change, theirs));
      const lines = text.split('\n');
      const at = line % lines.length;
      const one = tryParse(lines[at]!);
      return one ? Buffer.from(lines.with(at, changed(one, which, change, theirs)).join('\n')) : input;
    },
);

function changed(node: Node, which: number, change: Edit, other: Node): string {
  const root = { node };
  const slots = slotsOf(root);
  change(slots, which % slots.length, root, other);
  return textOf(root.node);
}

/** Changes one value of one document of a YAML stream. The document becomes JSON, which is YAML too. */
export const yamlMutation: fc.Arbitrary<Change> = fc.tuple(fc.nat(100), fc.nat(3_000), edit, fc.nat(1_000)).map(
  ([document, which, change, other]): Change =>
    (input, { corpus }) => {
      const documents = documentsOf(input);
      const theirs = documentsOf(corpus[other % corpus.length]!);
      if (documents.length === 0) return input;
      const at = document % documents.length;
      const mutated = changed(documents[at]!, which, change, theirs[0] ?? { raw: 'null' });
      return Buffer.from(documents.map(textOf).with(at, mutated).join('\n---\n'));
    },
);

function documentsOf(input: Buffer): Node[] {
  // Long inputs are already mutated, and the parser is slow on some of them.
  if (input.length > 50_000) return [];
  try {
    const documents = [...parseAllDocuments(input.toString(), { logLevel: 'silent' })];
    const isPlain = documents.every((each) => each.errors.length === 0 && !hasOddKey(each));
    return isPlain ? documents.map((each) => nodeOf(each.toJS({ maxAliasCount: 20 }))) : [];
  } catch {
    return [];
  }
}

/** Keys that are lists and maps take the parser hours. */
function hasOddKey(document: Document.Parsed): boolean {
  let found = false;
  visit(document, {
    Pair(_, { key }) {
      if (isCollection(key) || !isScalar(key)) found = true;
    },
  });
  return found;
}
