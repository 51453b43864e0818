import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import type { WholeEntry } from '../../backup/catalog/catalog.ts';
import { type DataDirRequest, MARKER } from '../../backup/restore/restore-marker.ts';
import { ExitCode } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import type { OpenedStore } from '../shared/opened-store.ts';
import { bumpFor } from './data-dir-bump.ts';

test('if the notes cannot be read, a single member uses the data here, and several members are refused', async () => {
  const place = await mkdtemp(join(tmpdir(), 'bump-'));
  const manifest = manifestOf(Buffer.from('x'));
  const entry = { id: manifest.id, manifest, objects: [] } as unknown as WholeEntry;
  const readAnswering = () => Promise.reject(new Error('the network is down'));
  const opened = { store: new FilesystemStore({ path: place }), readAnswering } as unknown as OpenedStore;
  const warnings: string[] = [];
  const log = { warn: (message: string) => warnings.push(message) } as unknown as Log;
  const bump = (several: boolean, given?: number) => {
    const members = { name: 'a', initialCluster: 'a=http://a:1,b=http://b:1', initialAdvertisePeerUrls: 'http://a:1' };
    const asked = { initialClusterToken: 't', named: true, repeat: 'refuse' as const };
    const request = { dataDir: join(place, 'data'), ...members, ...asked, ...(given && { bumpRevision: given }) };
    return bumpFor({ opened, entry, request, several, context: { signal: new AbortController().signal, log } });
  };
  expect(await bump(false)).toBe(1e9);
  expect(warnings).toEqual([expect.stringContaining('the network is down')]);
  await expect(bump(true)).rejects.toMatchObject({
    exitCode: ExitCode.refused,
    message: expect.stringMatching(
      /^earlier restores .*\(the network is down\); pass the same --bump-revision to all members/,
    ),
  });
  expect(await bump(true, 5)).toBe(5);
  await rm(place, { recursive: true });
});

describe('one object that the store does not give out', () => {
  const entryOf = (id: string, createdAt: string, more: object = {}) =>
    ({
      id,
      manifestKey: `orders/${id}.json`,
      manifest: manifestOf(Buffer.from(id), undefined, { id, createdAt }),
      objects: [],
      ...more,
    }) as unknown as WholeEntry;
  const early = entryOf('a', '2026-01-01T00:00:00.000Z');
  const bump = async (entries: readonly object[], request: Partial<DataDirRequest> = {}, several = false) => {
    const place = await mkdtemp(join(tmpdir(), 'bump-'));
    const store = new FilesystemStore({ path: place });
    const opened = { store, readAnswering: async () => entries } as unknown as OpenedStore;
    const members = { name: 'a', initialCluster: 'a=http://a:1,b=http://b:1', initialAdvertisePeerUrls: 'http://a:1' };
    const asked = { dataDir: join(place, 'data'), ...members, named: true, repeat: 'refuse' as const, ...request };
    const context = { signal: new AbortController().signal, log: { warn() {} } as unknown as Log };
    await mkdir(join(place, 'data'));
    // This directory was restored from another snapshot.
    const marker = { id: 'z', clusterId: 'c5', revision: 5, bumpRevision: 1, initialCluster: members.initialCluster };
    await writeFile(join(place, 'data', MARKER), JSON.stringify({ ...marker, name: 'a', sha256: '', at: '' }));
    return bumpFor({ opened, entry: early, request: asked, several, context }).finally(() =>
      rm(place, { recursive: true }),
    );
  };
  const away = {
    ...entryOf('b', '2026-01-02T00:00:00.000Z'),
    manifest: undefined,
    unread: 'unreachable',
    problem: '503',
  };

  test('is asked about if it was taken later', async () => {
    expect(await bump([early])).toBe(1e9);
    await expect(bump([early, { ...away, id: 'x-20260102-000000-x' }])).rejects.toThrow(
      /x-20260102.* was taken later, and 503; pass/,
    );
    expect(await bump([early, { ...away, id: 'x-20250102-000000-x' }])).toBe(1e9);
    await expect(bump([early, { ...away, id: 'x-20250102-000000-x' }], {}, true)).rejects.toThrow(
      /^earlier restores .*503\); pass the same --bump-revision to all members/,
    );
  });

  test('that names a revision that no etcd reaches is asked about too', async () => {
    const lie = entryOf('b', '2026-01-02T00:00:00.000Z');
    Object.assign(lie.manifest.content, { revision: Number.MAX_SAFE_INTEGER });
    await expect(bump([early, lie])).rejects.toThrow(
      /b was taken later, and its manifest names revision 9007199254740991/,
    );
    expect(await bump([early, lie], { bumpRevision: 7e9 })).toBe(7e9);
    await expect(bump([early, lie], { bumpRevision: Number.MAX_SAFE_INTEGER })).resolves.toBe(Number.MAX_SAFE_INTEGER);
  });
});
