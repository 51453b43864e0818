/** The flag of a setting: `--data-dir` of `dataDir`. */
export const flagOf = (setting: string): string =>
  `--${setting.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
