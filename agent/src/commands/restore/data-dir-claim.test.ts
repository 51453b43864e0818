import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryOf } from '../../../test/support/entry-of.ts';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import type { Marker } from '../../backup/restore/restore-marker.ts';
import { ExitCode } from '../../lib/errors.ts';
import { Budget } from '../../lib/limits/budget.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import type { CommandContext } from '../cli/command.ts';
import { writeMemberNote, writeNote } from '../shared/note-restore.ts';
import type { OpenedStore } from '../shared/opened-store.ts';
import { claim, otherNote, type ReadEntry } from './data-dir-claim.ts';

const entry = entryOf(manifestOf(Buffer.from('x'), undefined, { id: 'a' }), { manifestKey: 'orders/a.json' });
const { signal } = new AbortController();
const key = 'orders/a.restored-c1.json';
const note = { key, id: 'a', clusterId: 'c1', from: 'c0' };
const made = (bumpRevision: number) => ({ id: 'a', clusterId: 'c1', bumpRevision }) as Marker;

let path: string;
let store: FilesystemStore;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'claim-'));
  await mkdir(join(path, 'orders'));
  store = new FilesystemStore({ path });
});
afterEach(() => rm(path, { recursive: true }));

const memberRestored = (memberId: string, bump?: number) =>
  writeMemberNote(store, key, { id: 'a', clusterId: 'c1', memberId, name: 'm', peerUrls: '', at: '', bump }, signal);

const claimed = (bump: number) =>
  claim(
    made(bump),
    { store, cluster: 'orders' } as unknown as OpenedStore,
    { signal, budget: new Budget({ signal }) } as CommandContext,
    entry as ReadEntry,
  );

test('a member whose late note has replaced the one of a restored member does not restore', async () => {
  await memberRestored('b1', 11);
  await writeNote(store, { ...note, bump: 12 }, signal);
  await expect(claimed(12)).rejects.toMatchObject({
    exitCode: ExitCode.refused,
    message: expect.stringMatching(
      /^another member was restored from a with --bump-revision=11 as the same cluster c1/,
    ),
  });
});

test('a restored member whose note was replaced finds that out', async () => {
  await memberRestored('b1', 11);
  await writeNote(store, { ...note, bump: 12 }, signal);
  expect(await otherNote(store, key, made(11), signal)).toMatchObject({ id: 'a', bump: 12 });
});

test('members with the same number agree, and so does the note of an older agent, which has none', async () => {
  await memberRestored('b1', 11);
  await memberRestored('b2');
  await claimed(11);
  expect(await otherNote(store, key, made(11), signal)).toBeUndefined();
});
