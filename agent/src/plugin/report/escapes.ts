/** A text without escapes. */
interface Plain {
  readonly text: string;
  /** Where each of its characters begins in the original. The last entry is the end of that. */
  readonly at: Uint32Array;
}

/**
 * A character as JSON, quotes, addresses and XML have it, also several times over: a text within JSON within JSON has many
 * backslashes, an address within an address many `25`.
 */
const escaped = new RegExp(
  [
    String.raw`\\+u([0-9a-fA-F]{4})`,
    String.raw`\\+x([0-9a-fA-F]{2})`,
    String.raw`(\\)\\*([nrtbf"'/]?)`,
    '((?:%(?:25)*(?:[0-7][0-9a-fA-F]|[c-fC-F][0-9a-fA-F](?:%(?:25)*[89abAB][0-9a-fA-F])+)))',
    '&(?:amp;)*#([0-9]{1,6});',
    '&(?:amp;)*#[xX]([0-9a-fA-F]{1,5});',
    '&(?:amp;)*(amp|lt|gt|quot|apos);',
  ].join('|'),
  'g',
);

const controls: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Rounds that take mixed escapes away, such as those of JSON within an address. */
const rounds = 3;

/** All spellings of a text have the same plain text. It need not be what a parser would read: a path may have a `\n`. */
export function withoutEscapes(original: string): Plain {
  let found: Plain = { text: original, at: new Uint32Array() };
  for (let round = 0; round < rounds && /[\\%&]/.test(found.text); round += 1) found = decoded(found, round === 0);
  return found;
}

function decoded({ text, at: before }: Plain, isFirst: boolean): Plain {
  const at = new Uint32Array(text.length + 1);
  let length = 0;
  let from = 0;
  const keep = (to: number): void => {
    for (; from < to; from += 1) at[length++] = isFirst ? from : before[from]!;
  };
  const plain = text.replaceAll(escaped, (whole: string, ...rest) => {
    const offset = rest.at(-2) as number;
    const character = characterOf(rest);
    keep(offset);
    at.fill(isFirst ? offset : before[offset]!, length, length + character.length);
    length += character.length;
    from = offset + whole.length;
    return character;
  });
  keep(text.length);
  at[length] = isFirst ? text.length : before[text.length]!;
  return { text: plain, at };
}

/** By the groups of the pattern. */
function characterOf([unicode, byte, backslash, short, bytes, decimal, hex, entity]: (string | undefined)[]): string {
  if (backslash !== undefined) return short ? (controls[short] ?? short) : backslash;
  if (bytes !== undefined) return Buffer.from(bytes.replaceAll(/%(?:25)*(?=..)/g, ''), 'hex').toString();
  if (entity !== undefined) return entities[entity]!;
  if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
  return String.fromCodePoint(Number.parseInt((unicode ?? byte ?? hex)!, 16));
}
