import { Size } from 'cdk8s';
import { type EtcdVolume, resolveVolume, storageSpec, volumeProblems } from './etcd-volume';

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
  expect(volumeProblems(volume)).toEqual([]);
});

test('a quota that is given counts, up to what the volume holds twice', () => {
  const size = Size.gibibytes(9);
  const volume = resolved({ size }, Size.gibibytes(4));
  expect(gibibytes(volume.quotaBytes)).toBe(4);
  expect(volumeProblems(volume)).toEqual([]);
  expect(volumeProblems(resolved({ size }, Size.mebibytes(4097)))).toEqual([
    'quota: 4097Mi needs a volume of 9218Mi (twice the quota and 1Gi), but the volume has 9Gi; make volume.size larger or quota smaller',
  ]);
});

test.each([
  [{ ephemeral: true, storageClass: 'ssd' }, undefined, 'volume: storageClass has no effect with ephemeral'],
  [{ ephemeral: true, readWriteOncePod: true }, undefined, 'volume: readWriteOncePod has no effect with ephemeral'],
])('%j, quota %s', (volume, quota, message) => {
  expect(volumeProblems(resolved(volume, quota))).toEqual([expect.stringContaining(message)]);
});
