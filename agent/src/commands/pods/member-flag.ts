import type { Settings } from '../cli/settings.ts';

/** Reads a flag of `gate` and `serve` by its name, such as `data-dir`. */
export const memberFlag =
  (settings: Settings) =>
  (name: string): string | undefined =>
    settings.text(name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()));
