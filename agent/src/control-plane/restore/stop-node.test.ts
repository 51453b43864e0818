import { API_MANIFESTS } from '../node/manifests.ts';
import { ETCD_MANIFEST } from '../node/node.ts';
import { signalDue } from './stop-node.ts';

test('an API server is ended after 5 s, and killed after 10', () => {
  for (const name of API_MANIFESTS)
    expect([4_999, 5_000, 9_999, 10_000].map((gone) => signalDue(name, gone))).toEqual([
      undefined,
      'SIGTERM',
      'SIGTERM',
      'SIGKILL',
    ]);
});

test('an etcd that ends by itself within the 7 s in which its leader tries to hand over is left alone', () => {
  expect([8_000, 10_000, 14_999, 15_000].map((gone) => signalDue(ETCD_MANIFEST, gone))).toEqual([
    undefined,
    'SIGTERM',
    'SIGTERM',
    'SIGKILL',
  ]);
});
