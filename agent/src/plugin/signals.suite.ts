import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { constants, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signals-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function until<T>(tried: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const found = await tried();
    if (found !== undefined) return found;
    await sleep(50);
  }
}

/** Runs `kubectl-etcd status` with a kubeconfig. */
function start(kubeconfig: string) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'kubectl-etcd.ts'), 'status'], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  const soon = async () => {
    const result = await Promise.race([ended, sleep(20_000, 'it still runs', { ref: false })]);
    child.kill('SIGKILL');
    return result;
  };
  return { child, soon };
}

describe.each(['SIGINT', 'SIGTERM'] as const)('%s ends', (signal) => {
  test('the reading of a kubeconfig that nobody writes', async () => {
    const pipe = join(directory, 'config');
    execFileSync('mkfifo', [pipe]);
    const { child, soon } = start(pipe);
    // This succeeds as soon as it reads.
    await using _ = await until(() => open(pipe, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => undefined));
    await sleep(200);
    child.kill(signal);
    expect(await soon()).toBe(130);
  }, 120_000);

  test('a credential plugin, and with it the wait for it', async () => {
    const running = join(directory, 'running');
    const login = join(directory, 'login');
    await writeFile(
      login,
      `#!/bin/sh\ntrap '' INT TERM\necho $$ > ${running}.new\nmv ${running}.new ${running}\nsleep 60\n`,
      {
        mode: 0o700,
      },
    );
    const config = join(directory, 'config');
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: login, interactiveMode: 'Never' };
    await writeFile(
      config,
      JSON.stringify({
        'current-context': 'a',
        contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
        clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:9' } }],
        users: [{ name: 'a', user: { exec } }],
      }),
    );
    const { child, soon } = start(config);
    await until(() => existsSync(running) || undefined);
    child.kill(signal);
    expect(await soon()).toBe(130);
    const pid = execFileSync('cat', [running], { encoding: 'utf8' }).trim();
    expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
  }, 120_000);
});
