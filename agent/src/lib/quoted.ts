// biome-ignore lint/suspicious/noControlCharactersInRegex: this pattern matches control characters on purpose
export const CONTROL = /[\x00-\x1f\x7f\x85\u2028\u2029]/g;

/** Quotes a text as one word for bash, on one line. */
export function quoted(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  const inQuotes = text.replaceAll("'", `'\\''`);
  const code = (character: string) => `'$'\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}''`;
  return `'${inQuotes.replaceAll(CONTROL, code)}'`;
}
