import type { Manifest } from '../../backup/catalog/manifest.ts';
import type { MemberFlags } from '../node/member-flags.ts';
import { refuseAboveQuota } from './free-space.ts';

test.each([
  [10, 9, true],
  [10, 10, false],
  [10, 11, false],
  [undefined, 100, true],
])('an etcd with a quota of %s GiB for a database of %s GiB: accepted %s', (quota, gibibytes, isAccepted) => {
  const member = { ...(quota !== undefined && { quota: quota * 1024 ** 3 }) } as MemberFlags;
  const content = { sizeBytes: gibibytes * 1024 ** 3 + 32 } as Manifest['content'];
  const refuse = () => refuseAboveQuota({ source: 'etcd.yaml', member }, { id: 'a', content });
  if (isAccepted) refuse();
  else expect(refuse).toThrow(/quota of this etcd is 10240 MiB.*--quota-backend-bytes=\d+ on every node/);
});
