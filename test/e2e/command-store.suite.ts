import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const image = process.env.AGENT_IMAGE ?? '';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the agent within the image that the example builds. */
function inExample(...runs: string[][]): Ran[] {
  const script = join(__dirname, 'support/command-image.mjs');
  const args = [script, image, ...runs.map((run) => JSON.stringify(run))];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

test("the example's image runs the agent, and the agent its scripts", () => {
  const common = ['list', '--cluster=orders', '--namespace=shop', '--output=json', '--store'];
  const store = (env: object) => JSON.stringify({ command: { path: '/opt/store', env } });
  const [version, unset, noSecret] = inExample(
    ['--version'],
    [...common, store({})],
    [...common, JSON.stringify({ command: { path: '/opt/store', credentialsDirectory: '/nowhere' } })],
  );
  expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  // The script's own message: it was found, started, and its output was read.
  expect(unset).toMatchObject({ code: 20 });
  expect(JSON.parse(unset?.stdout ?? '')).toMatchObject({
    ok: false,
    error: expect.stringMatching(
      /^exec:\/\/\/opt\/store: list shop\/orders\/ ended with exit code 2: .*name the server, as USER@HOST$/,
    ),
  });
  expect(noSecret).toMatchObject({ code: 2 });
});
