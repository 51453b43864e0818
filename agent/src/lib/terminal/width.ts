/** Characters that take two columns of a terminal, as Unicode's East Asian Width says, and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const none = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

const columnsOf = (character: string): number => (none.test(character) ? 0 : wide.test(character) ? 2 : 1);

/** Columns that a text takes on a terminal. */
export const widthOf = (text: string): number => [...text].reduce((sum, each) => sum + columnsOf(each), 0);

/** The beginning of a text that fits. */
export function fitting(text: string, columns: number): string {
  let [fits, used] = ['', 0];
  for (const each of text) {
    used += columnsOf(each);
    if (used > columns) break;
    fits += each;
  }
  return fits;
}

export const padded = (text: string, columns: number): string =>
  `${text}${' '.repeat(Math.max(0, columns - widthOf(text)))}`;

export const cut = (text: string, columns: number): string =>
  widthOf(text) <= columns ? text : `${fitting(text, columns - 1)}…`;
