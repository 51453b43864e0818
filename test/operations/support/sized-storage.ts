import { execFileSync } from 'node:child_process';
import { slowTest } from '../../e2e/support/settings';

/** A class whose volumes are file systems of just the size that was asked for, so that one can be full. */
export const sizedStorageClass = process.env.SIZED_STORAGE_CLASS ?? 'sized';

function isThere(): boolean {
  const names = execFileSync('kubectl', ['get', 'storageclasses', '-o', 'name'], { encoding: 'utf8' });
  return names.split('\n').includes(`storageclass.storage.k8s.io/${sizedStorageClass}`);
}

/** A test that needs one; without it, it is skipped and says so. */
export const sizedTest: (what: string, test: () => Promise<unknown>) => void = isThere()
  ? slowTest
  : (what, work) => test.skip(`${what}: there is no StorageClass ${sizedStorageClass}`, work);
