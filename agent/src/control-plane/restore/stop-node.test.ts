import { API_MANIFESTS } from '../node/manifests.ts';
import { ETCD_MANIFEST } from '../node/node.ts';
import { signalDue } from './stop-node.ts';

test('an API server is ended after 5 s, and killed after 10', () => {
  for (const name of API_MANIFESTS)
    expect([4_999, 5_000, 9_999, 10_000].map((gone) => signalDue(name, gone, false))).toEqual([
      undefined,
      'SIGTERM',
      'SIGTERM',
      'SIGKILL',
    ]);
});

test('an API server without etcd is ended after 1 s, and killed after 6', () => {
  expect([999, 1_000, 5_999, 6_000].map((gone) => signalDue(API_MANIFESTS[0]!, gone, true))).toEqual([
    undefined,
    'SIGTERM',
    'SIGTERM',
    'SIGKILL',
  ]);
});

test('an etcd that ends by itself within the 7 s in which its leader tries to hand over is left alone', () => {
  expect([8_000, 10_000, 14_999, 15_000].map((gone) => signalDue(ETCD_MANIFEST, gone, false))).toEqual([
    undefined,
    'SIGTERM',
    'SIGTERM',
    'SIGKILL',
  ]);
});
