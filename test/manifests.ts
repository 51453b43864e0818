import { execFileSync } from 'node:child_process';
import type { Manifest } from './synth';

/** Every manifest of dist/ and of the examples, by file. */
export const files: readonly { readonly file: string; readonly manifests: readonly Manifest[] }[] = JSON.parse(
  execFileSync(process.execPath, [require.resolve('../scripts/lib/manifests.mjs')], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  }),
);
