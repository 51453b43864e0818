// An artifact that cannot be made on this machine is left out by name, and the release goes on.
import { run } from '../lib/run.mjs';

export class LeftOut extends Error {}

/** Leaves the artifact out unless this command works, as it does with every usable installation of the program. */
export async function need(program, ...args) {
  await run(program, args, { timeout: 60_000 }).catch(({ message }) => {
    throw new LeftOut(message.startsWith(`no ${program} `) ? message : `${program} ${args.join(' ')}: ${message}`);
  });
}

/** Leaves the artifact out if this run has made no image. */
export function needImage({ digests, only }) {
  if (digests.size === 0) throw new LeftOut(`there is no image${only.length > 0 ? '; add --only image' : ''}`);
}
