import type { Budget } from '../lib/limits/budget.ts';
import { limitClock } from './clock.ts';
import { PatientStore } from './patient-store.ts';
import type { StoreSpec } from './spec.ts';
import type { Store } from './store.ts';
import { storeUrl } from './url.ts';

export { parseStore } from './parse.ts';

/** Opens a store for a run. */
export async function openStore(spec: StoreSpec, budget?: Budget): Promise<Store> {
  const store = lazyStore(spec, budget);
  await store.open();
  return store;
}

/** A store that its first call opens. `idle`: longest time in milliseconds without a sign of life. */
export const lazyStore = (spec: StoreSpec, budget?: Budget, idle?: () => number): PatientStore =>
  new PatientStore(storeUrl(spec), async () => limitClock(await open(spec), budget), { budget, idle });

/** Loads the code and SDK of the store only now. */
async function open(spec: StoreSpec): Promise<Store> {
  if (spec.s3) {
    const { openS3 } = await import('./s3/s3-store.ts');
    return openS3(spec.s3);
  }
  if (spec.oss) {
    const { openOss } = await import('./oss/oss-store.ts');
    return openOss(spec.oss);
  }
  if (spec.sftp) {
    const { openSftp } = await import('./sftp/sftp-store.ts');
    return openSftp(spec.sftp);
  }
  if (spec.command) {
    const { openCommand } = await import('./command/command-store.ts');
    return openCommand(spec.command);
  }
  if (spec.filesystem) {
    const { FilesystemStore } = await import('./filesystem/filesystem-store.ts');
    return new FilesystemStore(spec.filesystem);
  }
  throw new Error('openStore does not know this kind of store');
}
