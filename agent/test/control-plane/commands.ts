import { command, succeed } from '../faults/commands.ts';
import type { DirectoryPlace } from '../faults/directory-place.ts';
import type { FakeControlPlane, FakeNode } from './node-fixture.ts';

export const restoreArgs = (node: FakeNode, { store }: Pick<DirectoryPlace, 'store'>, ...more: string[]): string[] =>
  command('restore control-plane', store, ...node.flags, ...more);

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
