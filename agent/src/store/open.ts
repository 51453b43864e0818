import { limitClock } from './clock.ts';
import type { StoreSpec } from './spec.ts';
import type { Store } from './store.ts';

export { parseStore } from './parse.ts';

/** Opens a store. The wait for its clock is limited. */
export const openStore = async (spec: StoreSpec): Promise<Store> => limitClock(await open(spec));

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
