import fc from 'fast-check';
import type { Change } from './mutate.ts';

/** Pieces that mean something in YAML, JSON, URLs, HTTP, known_hosts, units and the like. */
const words = [
  ...['\n', '\r\n', '\t', ' ', '---\n', '...\n', '# ', ': ', '- ', ', ', '? ', '| ', '> ', '"', "'", '`', '\\', '\\\n'],
  ...[
    '&a ',
    '*a',
    '<<: *a',
    '!!binary ',
    '!!set ',
    '!!omap ',
    '!!float ',
    '!x ',
    '%YAML 1.1\n',
    '@',
    '%',
    '%00',
    '%zz',
  ],
  ...['[', ']', '{', '}', '{}', '[]', 'null', '~', 'true', 'no', 'yes', '.inf', '.nan', '0x10', '0o7', '1e999', '-0'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '\0', '\ufeff', '\u2028', '\ud800'],
  ...['9007199254740993', '-1', '4294967296', '18446744073709551615', '2026-02-30', '9999-12-31T23:59:60Z', 'NaN'],
  ...[
    '/',
    '//',
    '../',
    '://',
    '?',
    '&',
    '=',
    '#',
    ':',
    ';',
    '|1|',
    '!',
    '*',
    '@revoked ',
    '@cert-authority ',
    '$',
    '$' + '{A}',
  ],
  ...['SHA256:', 'ssh-rsa ', 'ssh-ed25519 ', 'age1', 'AGE-SECRET-KEY-1', '-----BEGIN CERTIFICATE-----', '-----END '],
];

/** Texts on which a parser with lookahead or backtracking may be slow. */
const runs = [
  ' ',
  '\t',
  '\n',
  'a',
  '*',
  '?',
  '"',
  "'",
  '\\',
  '[',
  '{',
  '- ',
  'a*',
  '*a',
  '0',
  '=',
  ',',
  '/',
  '%41',
  '&a ',
  'a: ',
];

const offset = fc.nat(0xffff_ffff);
const insert = (input: Buffer, draw: number, text: string): Buffer => {
  const from = draw % (input.length + 1);
  return Buffer.concat([input.subarray(0, from), Buffer.from(text), input.subarray(from)]);
};

export const textMutation: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(offset, fc.constantFrom(...words)).map(
    ([draw, word]): Change =>
      (input) =>
        insert(input, draw, word),
  ),
  fc.tuple(offset, fc.constantFrom(...runs), fc.oneof(fc.nat(40), fc.nat(2_000), fc.nat(60_000))).map(
    ([draw, unit, times]): Change =>
      (input) =>
        insert(input, draw, unit.repeat(times)),
  ),
  // Replaces a word or a number by another one.
  fc.tuple(offset, fc.constantFrom(...words)).map(
    ([draw, word]): Change =>
      (input) => {
        const text = input.toString();
        const found = [...text.matchAll(/[\w.+-]+/g)];
        const one = found[draw % found.length];
        return one ? Buffer.from(text.slice(0, one.index) + word + text.slice(one.index + one[0].length)) : input;
      },
  ),
  fc.tuple(offset, offset, fc.constantFrom('drop', 'copy', 'swap', 'split', 'join')).map(
    ([one, other, what]): Change =>
      (input) => {
        const lines = input.toString().split('\n');
        const [a, b] = [one % lines.length, other % lines.length];
        switch (what) {
          case 'drop':
            return Buffer.from(lines.toSpliced(a, 1).join('\n'));
          case 'copy':
            return Buffer.from(lines.toSpliced(b, 0, lines[a]!).join('\n'));
          case 'swap':
            return Buffer.from(lines.with(a, lines[b]!).with(b, lines[a]!).join('\n'));
          case 'split':
            return insert(input, one, '\n');
          default:
            return Buffer.from(lines.toSpliced(a, 2, lines.slice(a, a + 2).join('')).join('\n'));
        }
      },
  ),
  fc.tuple(offset, offset).map(
    ([which, draw]): Change =>
      (input, { corpus }) => {
        const lines = corpus[which % corpus.length]!.toString().split('\n');
        return insert(input, draw, `\n${lines[which % lines.length]}\n`);
      },
  ),
);
