// An artifact that cannot be made on this machine is left out by name, and the release goes on.
import { run } from '../lib/run.mjs';

export class LeftOut extends Error {}

/** Runs a program. Without the program, the artifact is left out. Returns its stdout. */
export async function runIfThere(program, args, options) {
  try {
    return await run(program, args, options);
  } catch (error) {
    if (error.message !== `no ${program} on the PATH`) throw error;
    throw new LeftOut(error.message);
  }
}
