// biome-ignore lint/suspicious/noControlCharactersInRegex: this pattern matches control characters on purpose
export const unprintable = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * Shows what could move a terminal's cursor or turn a text around as JSON escapes, so that JSON keeps its value: a text may come
 * from whoever writes to the store or to the API server.
 */
export const printable = (text: string): string => text.replaceAll(unprintable, escaped);

/** The same for a part of a line. */
export const printableWord = (text: string): string => printable(text).replaceAll(/[\t\n]/g, escaped);
