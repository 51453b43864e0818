import { formatAge } from '../lib/terminal/format-age.ts';
import { unprintable } from '../lib/terminal/printable.ts';
import { widthOf } from '../lib/terminal/width.ts';

/** Removes what could move a terminal's cursor or turn a text around: the API server holds texts that others wrote. */
export const plain = (text: string): string =>
  text.replaceAll(new RegExp(`(?:${unprintable.source}|[\\t\\n])+`, 'g'), ' ');

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
