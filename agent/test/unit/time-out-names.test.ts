// The error of a run that has timed out names a store only if the run was waiting for that store.
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExitCode } from '../../src/lib/errors.ts';
import { FilesystemStore } from '../../src/store/filesystem/filesystem-store.ts';
import { seal } from '../mutations/mutate.ts';
import { runHere } from '../support/in-process.ts';
import { manifestOf } from '../support/manifest-of.ts';

const id = 'etcd-snapshot-20261121-020000-000001';
const { get } = FilesystemStore.prototype;
let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'time-out-'));
  const snapshot = seal(Buffer.from(id));
  await mkdir(join(path, 'store/orders'), { recursive: true });
  await writeFile(join(path, `store/orders/${id}.db`), snapshot);
  await writeFile(join(path, `store/orders/${id}.json`), JSON.stringify(manifestOf(snapshot, snapshot, { id })));
  await writeFile(join(path, 'etcdutl'), '#!/bin/sh\nexec sleep 600\n');
  await chmod(join(path, 'etcdutl'), 0o755);
});
afterEach(async () => {
  FilesystemStore.prototype.get = get;
  await rm(path, { recursive: true });
});
const dataDir = () =>
  runHere(
    ...['restore', 'data-dir', id, `--store=file://${path}/store`, '--cluster=orders', `--data-dir=${path}/data`],
    ...[`--etcdutl=${path}/etcdutl`, '--timeout=2s'],
  );

test('an etcdutl that hangs is not blamed on the store', async () => {
  const { exitCode, text } = await dataDir();
  expect({ exitCode, text }).toEqual({
    exitCode: ExitCode.timedOut,
    text: expect.stringMatching(/^not done after 2s/),
  });
});

test('a payload that does not end is blamed on the store', async () => {
  FilesystemStore.prototype.get = async function (key, ...more) {
    if (!key.endsWith('.db')) return get.call(this, key, ...more);
    return {
      async *[Symbol.asyncIterator]() {
        yield Buffer.from('x');
        await new Promise((_, reject) =>
          more[0]?.signal?.addEventListener('abort', () => reject(more[0]?.signal?.reason)),
        );
      },
    };
  };
  const { exitCode, text } = await dataDir();
  expect({ exitCode, text }).toEqual({
    exitCode: ExitCode.timedOut,
    text: expect.stringMatching(new RegExp(`^file://${path}/store: not done after 2s`)),
  });
});
