import type { Manifest } from '../../backup/catalog/manifest.ts';
import type { Settings } from '../cli/settings.ts';
import { sha256Flag } from './sha256-flag.ts';

export function askedId(settings: Settings): string | undefined {
  const id = settings.args[0] ?? settings.text('snapshot');
  return id === 'latest' ? undefined : id;
}

/**
 * What a command has to say so that every member restores the same snapshot; undefined when it does. A key does not say it:
 * what lies under it can be replaced, and the id of an adopted file is made of its key.
 */
export function missingName(settings: Settings, { id, content }: Manifest): string | undefined {
  if (sha256Flag(settings) !== undefined) return undefined;
  const key = settings.text('objectKey');
  if (key !== undefined) return `--object-key=${key} --sha256=${content.sha256}`;
  return askedId(settings) === undefined ? id : undefined;
}
