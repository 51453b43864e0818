import { Size } from 'cdk8s';
import { type EtcdVolume, resolveVolume, storageSpec } from './etcd-volume';

const resolved = (volume: EtcdVolume, quota?: Size) => resolveVolume(storageSpec(volume), quota?.asString());

const gibibytes = (bytes: number) => bytes / 1024 ** 3;

test.each([
  [undefined, 3.5],
  [Size.gibibytes(2), 0.5],
  [Size.gibibytes(17), 8],
  [Size.gibibytes(100), 8],
])('of a volume of %s the quota leaves room for a second database and the logs', (size, quota) => {
  const volume = resolved({ size });
  expect(gibibytes(volume.quotaBytes)).toBe(quota);
});

test('a quota that is given counts', () => {
  const size = Size.gibibytes(9);
  const volume = resolved({ size }, Size.gibibytes(4));
  expect(gibibytes(volume.quotaBytes)).toBe(4);
});
