import type { StoreSpec } from './spec.ts';
import type { Store } from './store.ts';

export { parseStore } from './parse.ts';

/** Opens a store. Loads its code and SDK only now. */
export async function openStore(spec: StoreSpec): Promise<Store> {
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
