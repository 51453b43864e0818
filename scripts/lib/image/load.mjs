// Puts an image that is built from files of several places onto the nodes of a Kubernetes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFrom } from './builder.mjs';

/** `fill` puts everything that the Dockerfile needs, and the Dockerfile, into a directory. Returns the name of the image. */
export async function loadImage(kubernetes, image, fill) {
  const context = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-image-'));
  try {
    await fill(context);
    kubernetes.load(image, (builder) => buildFrom(context, builder, image));
  } finally {
    rmSync(context, { recursive: true });
  }
  return image;
}
