import { execFileSync } from 'node:child_process';
import { slowTest } from '../../e2e/support/settings';

/** A StorageClass whose volumes are file systems of exactly the requested size, so that one can be full. */
export const sizedStorageClass = process.env.SIZED_STORAGE_CLASS ?? 'sized';

function isThere(): boolean {
  const names = execFileSync('kubectl', ['get', 'storageclasses', '-o', 'name'], { encoding: 'utf8' });
  return names.split('\n').includes(`storageclass.storage.k8s.io/${sizedStorageClass}`);
}

export const hasSizedStorage = isThere();

/** A test that needs this class. Without it, the test is skipped with a message. */
export const sizedTest: (what: string, test: () => Promise<unknown>) => void = hasSizedStorage
  ? slowTest
  : (what, work) => test.skip(`${what}: there is no StorageClass ${sizedStorageClass}`, work);
