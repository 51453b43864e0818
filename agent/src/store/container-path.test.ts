import { errorLike } from '../../test/support/error-like.ts';
import { isOfContainer, refuseInContainer, refuseStoresInContainer } from './container-path.ts';

const mounts = [
  '573 508 0:105 / / rw,relatime - overlay overlay rw,lowerdir=/a',
  '574 573 0:108 / /proc rw,nosuid - proc proc rw',
  '577 573 0:109 / /dev rw - tmpfs tmpfs rw',
  '578 577 0:110 / /dev/shm rw - tmpfs shm rw',
  '579 573 0:111 / /run rw - tmpfs tmpfs rw',
  '580 579 0:25 /systemd/system /run/systemd/system rw - tmpfs tmpfs rw',
  '581 573 254:1 /etc/kubernetes /etc/kubernetes rw,relatime - ext4 /dev/vda1 rw',
  '582 573 254:1 /srv /mnt/with\\040space rw,relatime - ext4 /dev/vda1 rw',
].join('\n');
const inImage = { program: '/opt/etcd-agent/bin/etcd-agent.mjs', mounts };

test('a path outside all mounts is deleted with the container', async () => {
  await expect(refuseInContainer('to', '/pki.tar', inImage)).rejects.toThrow(
    errorLike(
      /^\/pki\.tar is inside the container and would be deleted with it; name a path in a mounted folder: \/run\/systemd\/system, \/etc\/kubernetes, \/mnt\/with space$/,
      { at: 'to' },
    ),
  );
  await expect(refuseInContainer('to', 'pki.tar', inImage)).rejects.toThrow(
    errorLike(/is inside the container/, { at: 'to' }),
  );
  await expect(refuseInContainer('to', '/etc/kubernetes-old/pki.tar', inImage)).rejects.toThrow(
    errorLike(/is inside the container/, { at: 'to' }),
  );
});

test.each(['/run/pki.tar', '/dev/shm/pki.tar'])(
  '%s is deleted too: the runtime created it for the container',
  async (path) => {
    await expect(refuseInContainer('to', path, inImage)).rejects.toThrow(
      errorLike(/is inside the container/, { at: 'to' }),
    );
    await refuseInContainer('to', '/run/systemd/system/pki.tar', inImage);
  },
);

test('a store that is a folder of the container is refused', async () => {
  const stores = (path: string) => [{}, { filesystem: { path } }];
  await expect(refuseStoresInContainer('store', stores('/backup'), inImage)).rejects.toThrow(
    errorLike(/^\/backup is inside the container/, { at: 'store' }),
  );
  await refuseStoresInContainer('store', stores('/etc/kubernetes/backup'), inImage);
});

test('a mounted store stays, and so does a store outside a container', async () => {
  await refuseInContainer('to', '/etc/kubernetes/pki.tar', inImage);
  await refuseInContainer('to', '/mnt/with space/x', inImage);
  await refuseInContainer('to', '/pki.tar', { program: '/home/me/etcd-agent.mjs', mounts });
  expect(await isOfContainer('/somewhere')).toBe(false);
});
