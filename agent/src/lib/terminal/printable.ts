// biome-ignore lint/suspicious/noControlCharactersInRegex: this pattern matches control characters on purpose
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Escapes what a terminal obeys instead of showing it: a text may come from whoever writes to the store. */
export const printable = (text: string): string => text.replaceAll(CONTROL, escaped);

/** The same for a part of a line. */
export const printableWord = (text: string): string => printable(text).replaceAll(/[\t\n]/g, escaped);
