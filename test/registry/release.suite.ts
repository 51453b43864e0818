// The images and manifests of a release on their way: from its archives to a registry, and from there to the nodes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { outcomeOf, startNow } from '../e2e/support/jobs';
import { kubectl } from '../e2e/support/kubectl';
import { secret } from '../e2e/support/manifests';
import { Namespace } from '../e2e/support/namespace';
import { nodes } from '../e2e/support/node-driver';
import { bucket, keys, S3 } from '../e2e/support/s3';
import { Play } from '../e2e/watch/play';
import type { Manifest } from '../synth';
import { distrust, forget, has, trust } from './support/nodes';
import { Publisher } from './support/publisher';
import { pullOnEachNode } from './support/pulls';
import { Registry } from './support/registry';
import { rehearsal } from './support/settings';

const { directory, version, digests } = rehearsal;
const names = Object.keys(digests);
const steps = {
  tags: 'No tag of an image has other contents',
  push: 'The images, as their archives have them',
  pull: 'Everyone can pull them',
};

let registry: Registry;
let publisher: Publisher;
let everyNode: string[];

beforeAll(async () => {
  registry = await Registry.start(rehearsal);
  publisher = await Publisher.create(registry, rehearsal);
  everyNode = await nodes();
});
afterAll(async () => {
  for (const node of everyNode ?? []) {
    for (const digest of Object.values(digests)) await forget(node, digest);
    await distrust(node);
  }
  await registry?.end();
});

const archive = (name: string) => `oci-archive:release/etcd-${name}-${version}.oci.tar`;
/** The images as the workflow names them: at their digest. */
const pushed = () => imagesOf(registry.forPublisher);
const pulled = () => imagesOf(registry.forAll);
const imagesOf = (host: string): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, `${host}/cdk8s-etcd/${name}@${digests[name]}`]));
const asEnv = (images: Record<string, string>) =>
  Object.fromEntries(Object.entries(images).map(([name, image]) => [name.toUpperCase(), image]));

test('nobody pushes without the password', async () => {
  for (const host of [registry.forPublisher, registry.forAll]) {
    const to = `docker://${host}/cdk8s-etcd/agent:${version}`;
    const { code, output } = await publisher.skopeo('copy', '--dest-no-creds', archive('agent'), to);
    expect([code, output]).toEqual([1, expect.stringMatching(/authentication required|unsupported|405/)]);
  }
});

test('the images of the release are pushed and signed by the lines of images.yml, and everyone can pull them', async () => {
  const found = await publisher.run(steps.tags);
  expect(found).toMatchObject({ code: 0, outputs: pushed() });
  expect(await publisher.run(steps.push, asEnv(pushed()))).toMatchObject({ code: 0 });
  expect(await publisher.run(steps.pull, asEnv(pulled()))).toMatchObject({ code: 0 });
});

test('cosign verifies both with the public key, at the digest and by the tag', async () => {
  for (const name of names) {
    for (const image of [pulled()[name]!, `${registry.forAll}/cdk8s-etcd/${name}:${version}`]) {
      const { code, output } = await publisher.verify(image);
      expect([code, output]).toEqual([0, expect.stringContaining(digests[name]!)]);
    }
  }
});

test('cosign refuses another key, an image that nobody signed, and one that was signed under another name', async () => {
  await publisher.newKey('theirs');
  const refused = async (image: string, reason: string, key?: string) => {
    const { code, output } = await publisher.verify(image, key);
    expect([image, code, output]).toEqual([image, expect.any(Number), expect.stringContaining(reason)]);
    expect([image, code]).not.toEqual([image, 0]);
  };
  await refused(pulled().agent!, 'failed to verify signature', 'theirs');
  // The part of the index for one platform has no signature of its own.
  const { output } = await publisher.skopeo('inspect', '--raw', `docker://${pulled().agent}`);
  await refused(`${registry.forAll}/cdk8s-etcd/agent@${JSON.parse(output).manifests[0].digest}`, 'no signatures found');
  const foreign = `${registry.forPublisher}/cdk8s-etcd/agent:foreign`;
  const copied = await publisher.skopeo(
    'copy',
    '--all',
    '--preserve-digests',
    archive('member'),
    `docker://${foreign}`,
  );
  expect(copied).toMatchObject({ code: 0 });
  await refused(`${registry.forAll}/cdk8s-etcd/agent@${digests.member}`, 'no signatures found');
});

test('the workflow may run again; other contents under the tag end it', async () => {
  expect(await publisher.run(steps.tags)).toMatchObject({ code: 0, outputs: pushed() });
  const to = `docker://${registry.forPublisher}/cdk8s-etcd/agent:${version}`;
  const push = (name: string) => publisher.skopeo('copy', '--all', '--preserve-digests', archive(name), to);
  expect(await push('member')).toMatchObject({ code: 0 });
  const { code, output } = await publisher.run(steps.tags);
  expect([code, output]).toEqual([1, expect.stringContaining(`is already ${digests.member}, not ${digests.agent}`)]);
  expect(await push('agent')).toMatchObject({ code: 0 });
  expect(await publisher.run(steps.tags)).toMatchObject({ code: 0 });
});

test('each node pulls both by their digest, which it did not have', async () => {
  for (const node of everyNode) {
    for (const digest of Object.values(digests)) await forget(node, digest);
    await trust(node, registry.ca);
  }
  const nodesWith = async (digest: string) => {
    const those = await Promise.all(everyNode.map(async (node) => ((await has(node, digest)) ? [node] : [])));
    return those.flat();
  };
  for (const digest of Object.values(digests)) expect([digest, await nodesWith(digest)]).toEqual([digest, []]);
  const namespace = await Namespace.create('registry');
  try {
    await pullOnEachNode(namespace, everyNode, pulled());
  } finally {
    await namespace.delete();
  }
  for (const digest of Object.values(digests)) expect([digest, await nodesWith(digest)]).toEqual([digest, everyNode]);
  const addresses = await addressesOfNodes();
  expect(addresses).toHaveLength(everyNode.length);
  const requests = registry.requests();
  for (const address of addresses) {
    for (const name of names) {
      const path = `/v2/cdk8s-etcd/${name}/manifests/${digests[name]}`;
      expect(requests).toContainEqual({ from: address, method: 'GET', path, status: 200 });
    }
  }
});

test('the manifests of the release form a cluster of these images, which takes writes and is backed up', async () => {
  let s3: S3 | undefined;
  const play = await Play.begin('registry', {
    tls: true,
    prepare: async (namespace) => {
      s3 = await S3.start(namespace, { plain: true });
      await namespace.apply([secret('etcd-backup-s3', keys)]);
    },
    manifests: async () => ['etcd-reconciler', 'etcd-cluster'].map(fromRelease).join('---\n'),
  });
  try {
    await play.writesOn();
    await startNow(play.namespace, 'orders-hourly', 'orders-first');
    expect(await outcomeOf(play.namespace, 'orders-first')).toMatchObject({ succeeded: true });
    expect(await s3!.files()).toContainEqual(expect.stringMatching(/\/orders\/[^/]+\.db\.zst$/));
    expect(await imagesOfPods(play.namespace)).toEqual(new Set(Object.values(pulled())));
    await play.ends(3);
  } finally {
    await play.end();
  }
});

/** A file of `dist/` of the release. Its images come from the registry, and its backups go to the S3 server of this test. */
function fromRelease(name: string): string {
  const endpoint = 'http://s3:7070';
  return readFileSync(join(directory, 'release/dist', `${name}.k8s.yaml`), 'utf8')
    .replaceAll('ghcr.io/cdk8s-etcd/', `${registry.forAll}/cdk8s-etcd/`)
    .replaceAll(`"bucket":"${bucket}"`, `"bucket":"${bucket}","endpoint":"${endpoint}"`)
    .replaceAll(/^( *)bucket: .*$/gm, `$&\n$1endpoint: ${endpoint}`);
}

/** What Kubernetes says that each container with an image of this registry runs. */
async function imagesOfPods(namespace: Namespace): Promise<Set<string>> {
  const { items } = await namespace.get('pods');
  const ids = items.flatMap(({ spec, status }: Manifest) => {
    const asked: Manifest[] = [...(spec.initContainers ?? []), ...spec.containers];
    const states: Manifest[] = [...(status.initContainerStatuses ?? []), ...status.containerStatuses];
    return asked
      .filter(({ image }) => image.startsWith(`${registry.forAll}/`))
      .map(({ name }) => states.find((state) => state.name === name)?.imageID);
  });
  return new Set(ids);
}

async function addressesOfNodes(): Promise<string[]> {
  const path = '{.items[*].status.addresses[?(@.type=="InternalIP")].address}';
  return (await kubectl(['get', 'nodes', '-o', `jsonpath=${path}`])).stdout.split(' ');
}
