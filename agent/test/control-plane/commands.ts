import { command, succeed } from '../faults/commands.ts';
import type { DirectoryPlace } from '../faults/directory-place.ts';
import type { FakeControlPlane, FakeNode } from './node-fixture.ts';

export const restoreArgs = (node: FakeNode, { store }: Pick<DirectoryPlace, 'store'>, ...more: string[]): string[] =>
  command('restore control-plane', store, ...node.flags, ...more);

/** A number for the next restore that does not take its own from the clock. */
export async function nextBump({ client }: FakeControlPlane): Promise<string> {
  const { header } = JSON.parse(await client.etcdctl('get', 'before', '-w', 'json'));
  return `--bump-revision=${header.revision + 1_000_000}`;
}

/** Takes a snapshot, and returns its id. */
export async function takeSnapshot(
  { client: { endpoints, tls } }: FakeControlPlane,
  { store }: DirectoryPlace,
  ...more: string[]
): Promise<string> {
  const pair = [`--cacert=${tls!.ca}`, `--cert=${tls!.client.cert}`, `--key=${tls!.client.key}`];
  const { snapshot } = await succeed(command('backup', store, `--endpoints=${endpoints}`, ...pair, ...more));
  return snapshot.id;
}
