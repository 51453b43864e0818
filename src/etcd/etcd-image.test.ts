import { EtcdVersion } from '..';
import { agentImage, memberImage } from '../lib/agent-image';
import { etcdImages, type ImageProps } from './etcd-image';

const digest = `sha256:${'0'.repeat(64)}`;

test('the default is the pinned 3.6 from the registry of the etcd project', () => {
  expect(etcdImages({})).toMatchObject({
    etcd: 'gcr.io/etcd-development/etcd:v3.6.16',
    agent: agentImage,
    gate: memberImage,
    version: { version: '3.6.16' },
    problems: [],
  });
});

test('a mirror replaces both registries, but not in an image that is given', () => {
  expect(etcdImages({ registry: 'mirror.example.com:5000/all', version: EtcdVersion.V3_7 })).toMatchObject({
    etcd: 'mirror.example.com:5000/all/etcd-development/etcd:v3.7.3',
    agent: agentImage.replace('ghcr.io', 'mirror.example.com:5000/all'),
    gate: memberImage.replace('ghcr.io', 'mirror.example.com:5000/all'),
  });
  const given = { image: 'a.example/etcd:3.6.16', agentImage: 'a.example/agent:1' };
  expect(etcdImages({ registry: 'mirror.example.com', ...given })).toMatchObject({
    etcd: given.image,
    agent: given.agentImage,
    gate: given.agentImage,
  });
});

test.each([
  ['etcd:3.5.35', '3.5.35'],
  ['quay.io/coreos/etcd:v3.5.30', '3.5.30'],
  ['localhost:5000/etcd:v3.6.16', '3.6.16'],
  ['registry.k8s.io/etcd:3.6.16-0', '3.6.16'],
  [`etcd:v3.7.3@${digest}`, '3.7.3'],
])('the tag of %s shows version %s', (image, version) => {
  expect(etcdImages({ image })).toMatchObject({ etcd: image, version: { version }, problems: [] });
});

test.each([['etcd'], ['etcd:latest'], [`etcd@${digest}`], ['etcd:v3.7.0-rc.1']])(
  '%s needs a version beside it',
  (image) => {
    expect(etcdImages({ image }).problems).toEqual([
      `image: '${image}' does not show which version of etcd it contains; give version: EtcdVersion.of('3.x.y') too`,
    ]);
    expect(etcdImages({ image, version: EtcdVersion.V3_5 })).toMatchObject({
      etcd: image,
      version: { version: '3.5.35' },
      problems: [],
    });
  },
);

const mistakes: [ImageProps, string][] = [
  [{ image: 'etcd:v3.6.16', version: EtcdVersion.V3_5 }, "the tag of 'etcd:v3.6.16' is 3.6.16, but version is 3.5.35"],
  [{ image: 'etcd:v3.5.1' }, 'image: etcd 3.5.1 is older than 3.5.11, the oldest supported 3.5; use 3.5.35'],
  [{ version: EtcdVersion.of('3.6.1') }, 'version: etcd 3.6.1 is older than 3.6.11'],
  [{ image: 'https://gcr.io/etcd:v3.6.16' }, 'is not a valid image; write it like registry.example.com/etcd:v3.6.16'],
  [{ image: '' }, "image: '' is not a valid image"],
  [{ agentImage: 'agent 1' }, "agentImage: 'agent 1' is not a valid image"],
  [{ agentImage }, `agentImage: '${agentImage}' contains no etcd, with which a member salvages its data; give ghcr.io`],
  [{ agentImage: `r.example/all/cdk8s-etcd/agent@${digest}` }, 'give r.example/all/cdk8s-etcd/member with its own tag'],
  [
    { registry: 'https://mirror.example.com' },
    "registry: 'https://mirror.example.com' is not a valid registry; write it like",
  ],
  [{ registry: 'mirror.example.com/' }, "registry: 'mirror.example.com/' is not a valid registry"],
];

test.each(mistakes.map(([props, message]) => ({ props, message })))('$message', ({ props, message }) => {
  expect(etcdImages(props).problems).toEqual([expect.stringContaining(message)]);
});
