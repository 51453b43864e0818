import { join } from 'node:path';
import { container, podSpec } from '../../e2e/support/manifests';
import type { Namespace } from '../../e2e/support/namespace';
import { agentImage } from '../../e2e/support/settings';
import type { RenderWays } from './rendered';

/**
 * PREVIOUS_LIBRARY is the directory of the installed previous release, such as `/tmp/before/node_modules/cdk8s-etcd`,
 * and PREVIOUS_AGENT_IMAGE its agent's image, unless the nodes can pull the one that it names. Without them it is the
 * release under test with another name of the same image: this restarts every member, and tests nothing else.
 */
export async function previousRelease(namespace: Namespace): Promise<RenderWays> {
  const { PREVIOUS_LIBRARY: library, PREVIOUS_AGENT_IMAGE: image } = process.env;
  if (!library) return { image: await otherName(namespace) };
  const program = `${process.execPath} ${join(library, 'lib/src/cli.js')}`;
  return image ? { program, image } : { program, asReleased: true };
}

/** The image under test as the node knows it: by its digest. */
async function otherName(namespace: Namespace): Promise<string> {
  const name = 'image';
  const spec = podSpec({
    restartPolicy: 'Never',
    containers: [container(name, agentImage, { command: ['node', '--version'] })],
  });
  await namespace.apply([{ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec }]);
  const { imageID } = await namespace.until('the image', 60, async () => {
    const { status } = await namespace.get('pod', name);
    const [found] = status.containerStatuses ?? [];
    return found?.imageID ? found : undefined;
  });
  await namespace.kubectl(['delete', 'pod', name]);
  return imageID;
}
