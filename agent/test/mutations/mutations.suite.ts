import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SnapshotManifest } from '../../src/backup/catalog/manifest.ts';
import { ExitCode } from '../../src/lib/errors.ts';
import { runAgent } from '../harness/agent.ts';
import { availableMinors, missingMinors } from '../harness/etcd-binaries.ts';
import { makeCase, openDeceived } from './attack.ts';
import { runMutations, summary, total } from './run.ts';
import { type Specimen, takeSpecimen } from './specimen.ts';

const seed = Number(process.env.MUTATIONS_SEED || 1);

let directory: string;
let specimens: readonly Specimen[];
beforeAll(async () => {
  for (const minor of missingMinors()) console.warn(`etcd ${minor} is not at hand: untested`);
  directory = await mkdtemp(join(tmpdir(), 'mutations-'));
  specimens = await Promise.all(availableMinors().map((minor) => takeSpecimen(minor, directory)));
});
afterAll(() => rm(directory, { recursive: true }));

test('1,000 mutated snapshots: each is refused, or an etcd on it has the same data', async () => {
  const tally = await runMutations(1_000, seed, specimens);
  process.stdout.write(`${summary(seed, tally)}\n`);

  expect(tally.mistakes).toEqual([]);
  expect(total(tally)).toBe(1_000);
  const { trailer = 0, structure = 0, HashKV = 0, 'proven equal': equal = 0 } = Object.fromEntries(tally.verdicts);
  expect(Math.min(trailer, structure)).toBeGreaterThan(200);
  expect(Math.min(HashKV, equal)).toBeGreaterThan(30);
});

test('an untouched snapshot is accepted', async () => {
  for (const { minor, manifest, snapshot } of specimens) {
    const { code } = await agent('verify', await storeOf(manifest, snapshot), '--level=open');
    expect({ minor, code }).toEqual({ minor, code: 0 });
  }
});

test('the command line agrees, and leaves nothing behind', async () => {
  for (let n = 0; n < 12; n++) {
    // Far enough apart to have different kinds of damage and of corrected checksums.
    const tried = await makeCase(seed, n * 83, specimens);
    const store = await storeOf(tried.manifest, tried.stored);
    const target = `${store}-target`;
    await mkdir(target);
    expect(await agent('verify', store, '--level=read')).toMatchObject({ code: ExitCode.verificationFailed });
    const id = tried.manifest.id;
    for (const [command, flag] of [
      ['restore fetch', `--to=${join(target, 'file.db')}`],
      ['restore data-dir', `--data-dir=${join(target, 'data')}`],
    ] as const) {
      const { code } = await agent(`${command} ${id}`, store, flag);
      expect({ what: tried.what, command, code }).toMatchObject({ code: ExitCode.verificationFailed });
    }
    expect(await readdir(target)).toEqual([]);

    const deceived = await storeOf(tried.deceived.manifest, tried.deceived.stored);
    const opened = await openDeceived(tried, directory);
    const expected = opened instanceof Error ? ExitCode.verificationFailed : opened.level === 'open' ? 0 : 31;
    expect({ what: tried.what, ...(await agent('verify', deceived, '--level=open')) }).toMatchObject({
      code: expected,
    });
  }
});

async function storeOf(manifest: SnapshotManifest, payload: Buffer): Promise<string> {
  const store = await mkdtemp(join(directory, 'store-'));
  await mkdir(join(store, 'orders'));
  await writeFile(join(store, manifest.object.key), payload);
  await writeFile(join(store, `orders/${manifest.id}.json`), JSON.stringify(manifest));
  return store;
}

const agent = (command: string, store: string, ...flags: string[]) =>
  runAgent([...command.split(' '), `--store=file://${store}`, '--cluster=orders', ...flags]);
