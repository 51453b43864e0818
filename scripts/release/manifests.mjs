// dist/ with the image by its digest, so that what is applied is what was tested.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../lib/steps.mjs';
import { needImage } from './left-out.mjs';
import { pack } from './pack.mjs';
import { tracked } from './tracked.mjs';

export async function manifests(release) {
  needImage(release);
  // It may have files of an earlier commit.
  rmSync(release.file('dist'), { recursive: true, force: true });
  for (const path of tracked('dist')) {
    const file = release.file(path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, pinned(readFileSync(join(root, path), 'utf8'), release.digests));
  }
  pack(release.file('dist'), release.file(`dist-v${release.version}.tar.gz`), release.time, release.file());
}

/** Adds the digest to each name of an image of this release, which must be every image of ours. */
export function pinned(yaml, digests) {
  // The end of the name: `1.2.1` is not `1.2.10`.
  const named = (image) => new RegExp(`${RegExp.escape(image)}(?![\\w.-])`, 'g');
  const all = [...digests].reduce((text, [image, digest]) => text.replace(named(image), `${image}@${digest}`), yaml);
  const [other] = /ghcr\.io\/cdk8s-etcd\/[\w./-]+:[\w.-]+(?![\w.@-])/.exec(all) ?? [];
  if (other)
    throw new Error(
      `dist/ names ${other}, which is not of this release; set the version everywhere and run npm run generate`,
    );
  return all;
}
