import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryOf } from '../../../test/support/entry-of.ts';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { clusterOfMember, restoredCluster } from '../../backup/catalog/catalog.ts';
import { notedIn, type RestoreNote } from '../../control-plane/state/noted-restores.ts';
import { seenOf } from '../../control-plane/state/served-revisions.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { Budget } from '../../lib/limits/budget.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import type { CommandContext } from '../cli/command.ts';
import type { OpenedCatalog } from '../shared/store-run.ts';
import { agreedNumber } from './agreed-number.ts';
import type { ControlPlaneRequest } from './control-plane-request.ts';

const manifest = manifestOf(Buffer.from('x'), undefined, { id: 'a' });
const entry = entryOf(manifest, { manifestKey: 'orders/a.json' });
const { signal } = new AbortController();

let path: string;
let store: FilesystemStore;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'agreed-'));
  await mkdir(join(path, 'orders'));
  store = new FilesystemStore({ path });
});
afterEach(() => rm(path, { recursive: true }));

const noted = () => notedIn(store, ['orders/'], signal);

/** What a node ends up with that would take this number, and has read these notes. */
async function agreed(
  bump: number,
  notes: readonly RestoreNote[] = [],
  initialCluster = 'a=http://a:1,b=http://b:1',
  unread?: string,
) {
  const opened = { store, cluster: 'orders', entries: [entry] } as unknown as OpenedCatalog;
  const request = { manifest, entry, asked: {}, served: { notes, unread } } as unknown as ControlPlaneRequest;
  const own = { bump, token: `t${bump}`, initialCluster };
  return (await agreedNumber(own, request, opened, { signal, budget: new Budget({ signal }) } as CommandContext)).bump;
}

test('nodes that begin at the same moment, with clocks that differ, get one number', async () => {
  const found = await Promise.all([11, 12, 13].map((bump) => agreed(bump)));
  expect(new Set(found).size).toBe(1);
  expect(await agreed(14, [], 'b=http://b:1,a=http://a:1')).toBe(found[0]);
  expect((await noted()).notes).toMatchObject([
    { id: 'a', bump: found[0], revision: undefined, token: `t${found[0]}`, marksServing: true },
  ]);
});

test('a later restore of the same snapshot, and one to other members, has a number of its own', async () => {
  expect(await agreed(11)).toBe(11);
  const notes = (await noted()).notes;
  expect(await agreed(12, notes)).toBe(12);
  expect(await agreed(13, [], 'a=http://a:1,c=http://c:1')).toBe(13);
  expect(await readdir(join(path, 'orders'))).toHaveLength(3);
});

test('the number of a restore that may be over is not taken', async () => {
  expect(await agreed(11)).toBe(11);
  await expect(agreed(12, [], undefined, 'a.restored-c1.json: 503')).rejects.toMatchObject({
    exitCode: ExitCode.refused,
    message: expect.stringMatching(
      /^cannot agree .*\(a\.restored-c1\.json: 503\); pass --bump-revision=12 to all nodes$/,
    ),
  });
});

test('a number on which nodes agree is not a cluster, and not a revision that was served', async () => {
  await agreed(11);
  const { noteKeys, notes } = await noted();
  const [key] = noteKeys;
  expect(seenOf(notes)).toEqual([]);
  expect(key).toMatch(/^orders\/a\.agreed-[0-9a-f]{16}\.json$/);
  expect([restoredCluster(key!), clusterOfMember(key!)]).toEqual([undefined, undefined]);
});

test('where no note can be written, the number is named to pass to all nodes', async () => {
  store.put = () => Promise.reject(new AgentError(ExitCode.storeRefused, 'read-only'));
  await expect(agreed(11)).rejects.toMatchObject({
    exitCode: ExitCode.refused,
    message: expect.stringMatching(/^cannot agree .*read-only.*; pass --bump-revision=11 to all nodes$/),
  });
});
