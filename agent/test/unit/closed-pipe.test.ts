// Behavior of the agent when its output is not read.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ExitCode } from '../../src/lib/errors.ts';

const agent = `${process.execPath} ${join(import.meta.dirname, '../../lib/bin/etcd-agent.mjs')}`;
const shell = (script: string) => promisify(execFile)('bash', ['-c', script]);

let store: string;
beforeAll(async () => {
  store = await mkdtemp(join(tmpdir(), 'closed-pipe-'));
});
afterAll(() => rm(store, { recursive: true }));

test.each([
  ['its result', `list --cluster=orders --store=file://STORE | head -0`, ExitCode.done],
  ['its help', 'backup --help | head -0', ExitCode.done],
  ['its log', `show --cluster=orders --store=file://STORE 2>&1 | head -0`, ExitCode.nothingThere],
])('a reader that is gone leaves %s unread, and the exit code as it is', async (_, command, exitCode) => {
  const script = `${agent} ${command.replace('STORE', store)}; echo "\${PIPESTATUS[0]}"`;
  expect(await shell(script)).toEqual({ stdout: `${exitCode}\n`, stderr: '' });
});

test('a result that cannot be written is an error of one line', async () => {
  const script = `${agent} list --cluster=orders --store=file://${store} > /dev/full; echo $?`;
  expect(await shell(script)).toEqual({
    stdout: `${ExitCode.unexpected}\n`,
    stderr: expect.stringMatching(/^etcd-agent: cannot write the result: .*no space left.*\n$/),
  });
});
