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
export const parseBoolean = (text: string): boolean | undefined => words[text.trim().toLowerCase()];

export const notBoolean = (text: string) => `'${text}' is neither true nor false`;
