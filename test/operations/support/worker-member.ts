import { controlPlaneNodes } from '../../e2e/support/node-driver';
import type { Play } from '../../e2e/watch/play';

/** A member on a node that has neither the client nor an API server. */
export async function workerMember({ cluster, namespace }: Play): Promise<{ node: string; ordinal: number }> {
  const client = await namespace.get('pod', 'orders-client');
  const taken = [client.spec.nodeName, ...(await controlPlaneNodes())];
  const { metadata, spec } = (await cluster.pods()).find(({ spec }) => !taken.includes(spec.nodeName))!;
  return { node: spec.nodeName, ordinal: Number(metadata.name.split('-').at(-1)) };
}
