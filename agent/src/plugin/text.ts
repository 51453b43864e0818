import { formatAge } from '../lib/terminal/format-age.ts';
import { widthOf } from '../lib/terminal/width.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: this pattern matches control characters on purpose
const unprintable = /[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Removes what could move a terminal's cursor or turn a text around: the API server holds texts that others wrote. */
export const plain = (text: string): string => text.replaceAll(new RegExp(`${unprintable.source}+`, 'g'), ' ');

/** Shows such characters as JSON escapes, so that JSON keeps its value. Lines stay. */
export const printable = (text: string): string =>
  text.replaceAll(unprintable, (each) =>
    each === '\n' ? each : `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Breaks a text into lines of at most `width` columns, each after the indent. A longer word has a line of its own. */
export function wrap(text: string, width: number, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of plain(text)
    .split(' ')
    .filter((each) => each !== '')) {
    if (line !== '' && indent.length + widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => `${indent}${each}`).join('\n');
}

/** Such a time is of another machine whose clock is wrong, and says nothing. */
export const isFuture = (time: string | undefined, now: number): boolean => Date.parse(time ?? '') > now + 60_000;

/** Age of a time, such as `3m 2s`. `?`: unknown. */
export function ageOf(time: string | undefined, now: number): string {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) || isFuture(time, now) ? '?' : formatAge(Math.max(0, now - at));
}

/** The larger unit of an age alone, for a column: `3m`. */
export const shortAge = (time: string | undefined, now: number): string => ageOf(time, now).split(' ')[0]!;
