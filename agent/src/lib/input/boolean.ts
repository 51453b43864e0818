const words: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  '1': true,
  false: false,
  no: false,
  '0': false,
  '': false,
};

/** Parses `true`, `yes`, `1`, `false`, `no`, `0` or an empty text, in any case; undefined for anything else. */
export function parseBoolean(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  return Object.hasOwn(words, word) ? words[word] : undefined;
}

export const notBoolean = (text: string) => `'${text}' is neither true nor false`;
