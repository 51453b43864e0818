import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import type { WholeEntry } from '../../backup/catalog/catalog.ts';
import { ExitCode } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import type { OpenedStore } from '../shared/opened-store.ts';
import { bumpFor } from './data-dir-bump.ts';

test('if the notes cannot be read, a single member uses the data here, and several members are refused', async () => {
  const place = await mkdtemp(join(tmpdir(), 'bump-'));
  const manifest = manifestOf(Buffer.from('x'));
  const entry = { id: manifest.id, manifest, objects: [] } as unknown as WholeEntry;
  const readAll = () => Promise.reject(new Error('the network is down'));
  const opened = { store: new FilesystemStore({ path: place }), readAll } as unknown as OpenedStore;
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
