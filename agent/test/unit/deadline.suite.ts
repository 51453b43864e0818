// Every command that uses a store ends within its time limit, however slow the store is.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExitCode } from '../../src/lib/errors.ts';
import { runHere } from '../support/in-process.ts';

let store: string;
beforeAll(async () => {
  store = await mkdtemp(join(tmpdir(), 'deadline-'));
  for (const verb of ['put', 'get', 'list', 'stat', 'delete']) {
    await writeFile(join(store, verb), '#!/bin/sh\nexec sleep 600\n');
    await chmod(join(store, verb), 0o755);
  }
});
afterAll(() => rm(store, { recursive: true }));

const commands = ['list', 'show', 'status', 'verify', 'prune --retention=last=1', 'pin x', 'unpin x', 'adopt'];
test.each([
  ...commands,
  'check',
  'backup --endpoints=http://127.0.0.1:1',
  'copy --to=file:///nowhere',
  'restore fetch --to=/nowhere/x',
  'restore extra --to=/nowhere/x',
])('%s', async (command) => {
  const [first, ...args] = command.split(' ');
  const place = ['--cluster=orders', `--store=exec://${store}`, '--timeout=1s'];
  const { exitCode, text } = await runHere(first!, ...args, ...place);
  expect({ exitCode, text }).toEqual({
    exitCode: ExitCode.timedOut,
    text: expect.stringMatching(
      new RegExp(
        // Without the store, if the machine was too slow to ask it.
        `^(exec://${store}: not done after 1s, waiting for \`\\w+( \\S+)?\`; check that the store answers this, or|(exec://${store}: )?not done after 1s;) allow more with --timeout$`,
      ),
    ),
  });
});
