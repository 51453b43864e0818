import { wrap } from './text.ts';

/** Makes a text of our guides readable on a terminal. */
export const fromMarkdown = (text: string, width: number): string =>
  text
    .split(/\n\n+/)
    .flatMap((block) => (block.startsWith('|') ? rowsOf(block) : [block]))
    .map((block) => (isVerbatim(block) ? block : paragraphs(block, width)))
    .join('\n\n');

const isVerbatim = (block: string): boolean => block.startsWith('```');

/** A list has a paragraph for each of its items. */
const paragraphs = (block: string, width: number): string =>
  block
    .split(/\n(?=\d+\. |- )/)
    .map((item) => wrap(withoutMarks(item), width, '  '))
    .join('\n');

export const withoutMarks = (text: string): string =>
  text
    .replaceAll('\n', ' ')
    .replaceAll(/\[([^\]]*)\]\(([^)]*)\)/g, '$1 ($2)')
    .replaceAll(/\*\*|`|(?<!\w)\*|\*(?!\w)/g, '')
    .replaceAll('&lt;', '<');

/** Each row of a table as a paragraph. */
function rowsOf(block: string): string[] {
  const [, , ...rows] = block.split('\n').filter((line) => line.startsWith('|'));
  return rows.map((row) => cellsOf(row).filter(Boolean).join(': '));
}

export const cellsOf = (row: string): string[] =>
  row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
