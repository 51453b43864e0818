// Calls of the system that never return, as on an NFS mount whose server is gone. A named pipe without a writer stands for one.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExitCode } from '../../src/lib/errors.ts';
import { RunningAgent, runAgent } from '../harness/agent.ts';

let root: string;
let pipe: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'hung-call-'));
  pipe = join(root, 'pipe');
  execFileSync('mkfifo', [pipe]);
  await mkdir(join(root, 'store/orders'), { recursive: true });
});
afterAll(() => rm(root, { recursive: true }));

const list = () => ['list', '--cluster=orders', `--store=file://${root}/store`];
/** Environment in which a call, or more than there are threads for calls, hangs from the beginning. */
const hanging = (calls: number) => {
  const call = `open(${JSON.stringify(pipe)},'r',()=>{});`;
  const script = `import{open}from'node:fs';${call.repeat(calls)}`;
  return { env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` } };
};

test('a run that is over ends with its exit code, although a call hangs', async () => {
  const begun = performance.now();
  const { code, signal, stdout } = await runAgent(list(), hanging(1));
  expect({ code, signal, stdout }).toMatchObject({ code: ExitCode.done, signal: null });
  expect(stdout).toContain('no snapshots');
  expect(performance.now() - begun).toBeLessThan(15_000);
});

test('a metrics file that hangs does not hold the result up', async () => {
  const metrics = join(root, 'metrics');
  execFileSync('mkfifo', [metrics]);
  const { code, stdout } = await runAgent(['verify', ...list().slice(1), `--metrics-file=${metrics}`]);
  expect({ code, stdout }).toEqual({ code: ExitCode.nothingThere, stdout: '' });
});

test('a signal ends a run without a thread that is free', async () => {
  const agent = new RunningAgent(list(), hanging(9));
  await sleep(2_000);
  const { code, signal, stderr } = await agent.kill('SIGTERM');
  expect({ code, signal, stderr }).toMatchObject({ code: ExitCode.terminated, signal: null });
  expect(stderr).toContain('stopped by SIGTERM');
});

test('a signal ends a run that hangs before its time limit begins', async () => {
  const agent = new RunningAgent([...list(), `--config=${pipe}`]);
  await sleep(2_000);
  const { code, signal, stderr } = await agent.kill('SIGTERM');
  expect({ code, signal, stderr }).toMatchObject({ code: ExitCode.terminated, signal: null });
  expect(stderr).toContain('stopped by SIGTERM');
});

test('a config file that hangs ends the run at its time limit', async () => {
  const begun = performance.now();
  const { code, signal, stderr } = await runAgent([...list(), `--config=${pipe}`, '--timeout=2s']);
  expect({ code, signal, stderr }).toMatchObject({ code: ExitCode.timedOut, signal: null });
  expect(stderr).toContain(`--config: ${pipe} was not read after 2s`);
  expect(performance.now() - begun).toBeLessThan(15_000);
});

test('a file with credentials that hangs counts towards the time limit of a backup', async () => {
  const etcd = ['--endpoints=http://127.0.0.1:1', '--user=root', `--password-file=${pipe}`];
  const { code, signal, stderr } = await runAgent(['backup', ...list().slice(1), ...etcd, '--timeout=2s']);
  expect({ code, signal, stderr }).toMatchObject({ code: ExitCode.timedOut, signal: null });
  expect(stderr).toContain('not done after 2s');
});

test('a named pipe in a store is not an object, and holds nothing up', async () => {
  const at = join(root, 'store/orders');
  for (const name of ['.index.jsonl.gz', 'a.db', 'etcd-snapshot-20261121-020000-000001.json'])
    execFileSync('mkfifo', [join(at, name)]);
  const begun = performance.now();
  for (const command of ['list', 'status', 'verify', 'adopt', 'prune']) {
    const args = [command, ...list().slice(1), ...(command === 'prune' ? ['--retention=last=1'] : [])];
    const { code, stdout, stderr } = await runAgent(args);
    expect([command, code, stdout + stderr]).not.toContain(ExitCode.timedOut);
  }
  expect(performance.now() - begun).toBeLessThan(20_000);
});
