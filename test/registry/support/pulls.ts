import { container, podSpec } from '../../e2e/support/manifests';
import type { Namespace } from '../../e2e/support/namespace';
import type { Manifest } from '../../synth';

/** Starts a pod with each image on each node, and waits for its end. The kubelet must pull the image at the digest in its name. */
export async function pullOnEachNode(
  namespace: Namespace,
  nodes: readonly string[],
  images: Readonly<Record<string, string>>,
): Promise<void> {
  const all = nodes.flatMap((node) => Object.entries(images).map(([name, image]) => ({ node, name, image })));
  await namespace.apply(all.map(pod));
  await Promise.all(all.map((each) => ended(namespace, each)));
}

interface Pull {
  readonly node: string;
  /** Last name of the image. */
  readonly name: string;
  readonly image: string;
}

const nameOf = ({ node, name }: Pull) => `pull-${name}-${node}`;

function pod(pull: Pull): Manifest {
  const spec = podSpec({
    nodeName: pull.node,
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    containers: [container('image', pull.image, { imagePullPolicy: 'Always', args: ['--help'] })],
  });
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: nameOf(pull) }, spec };
}

async function ended(namespace: Namespace, pull: Pull): Promise<void> {
  const name = nameOf(pull);
  const status = await namespace.until(`the end of pod ${name}`, 300, async () => {
    const { status } = await namespace.get('pod', name);
    const { reason = '', message = '' } = status.containerStatuses?.[0]?.state.waiting ?? {};
    if (/x509/.test(message))
      throw new Error(`containerd on ${pull.node} has read its authorities before; restart it there: ${message}`);
    if (/^(ErrImagePull|ImagePullBackOff|InvalidImageName)$/.test(reason)) throw new Error(`${pull.node}: ${message}`);
    return ['Succeeded', 'Failed'].includes(status.phase) ? status : undefined;
  });
  expect([name, status.phase, status.containerStatuses[0].imageID]).toEqual([name, 'Succeeded', pull.image]);
  const { items } = await namespace.get('events', `--field-selector=involvedObject.name=${name},reason=Pulled`);
  expect(items).toContainEqual(expect.objectContaining({ message: expect.stringContaining('Successfully pulled') }));
}
