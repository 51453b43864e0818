// The npm package, as `npm pack` makes it, but for the modes of its files, which would be those of the checkout.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../lib/run.mjs';
import { pack } from './pack.mjs';
import { packPackage } from './package.mjs';

export async function npm(release) {
  const archive = await packPackage(release.directory, release.environment);
  await sameModes(archive, release.scratch('npm'), release.time);
}

/** Packs an archive anew, by way of an empty directory. */
export async function sameModes(archive, directory, time) {
  await run('tar', ['-xzf', archive, '-C', directory]);
  if (!existsSync(join(directory, 'package/package.json'))) throw new Error(`tar unpacked nothing from ${archive}`);
  pack(directory, archive, time);
}
