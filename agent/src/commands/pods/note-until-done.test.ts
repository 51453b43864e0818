import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { createLog } from '../../lib/log.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { noteRestore } from '../shared/note-restore.ts';
import { noteUntilDone } from './note-until-done.ts';

test('a store that takes no notes is warned of once, is tried again, and what it takes later is said', async () => {
  const path = await mkdtemp(join(tmpdir(), 'note-'));
  const store = new FilesystemStore({ path });
  const { put } = store;
  let tried = 0;
  store.put = async () => {
    tried++;
    throw new AgentError(ExitCode.storeRefused, 'AccessDenied');
  };
  const lines: string[] = [];
  const write = (chunk: Buffer, _: unknown, done: () => void) => {
    lines.push(String(chunk));
    done();
  };
  const log = createLog(new Writable({ write }));
  const { signal } = new AbortController();
  const note = { key: 'orders/a.restored-c1.json', id: 'a', clusterId: 'c1', from: 'c0' };
  const until = async (isDone: () => boolean) => {
    while (!isDone()) await sleep(5);
  };
  const first = noteUntilDone((to) => noteRestore(store, note, { signal, log: to }), { signal, log }, 5);
  expect(await first).toBe(false);
  await until(() => tried > 3);
  expect(lines).toEqual([expect.stringContaining('cannot note the restore')]);
  store.put = put;
  await until(() => lines.length > 1);
  expect(lines[1]).toContain('the restore is noted');
  expect(await store.stat(note.key)).toBeDefined();
  await rm(path, { recursive: true });
});
