// The command lines of npm scripts that have few options or none.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

function run(command: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [resolve(`scripts/commands/${command}.mjs`), ...args],
    {
      encoding: 'utf8',
      timeout: 60_000,
    },
  );
  return { status, stdout, stderr };
}

const commands = ['build', 'check', 'ci', 'docs', 'generate', 'image', 'quickstart', 'synth'];

test.each(commands)('%s refuses an option that it does not have, in one line', (command) => {
  const { status, stdout, stderr } = run(command, '--bogus');
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(new RegExp(`^${command}: Unknown option '--bogus'; write npm run ${command}.*\n$`));
});

test.each(commands)('%s refuses a word, in one line', (command) => {
  const { status, stderr } = run(command, 'bogus');
  expect(status).toBe(2);
  expect(stderr).toMatch(new RegExp(`^${command}: Unexpected argument 'bogus'; write npm run ${command}.*\n$`));
});

test.each(['chaos', 'e2e', 'languages', 'lint-manifests', 'model', 'model-mutants', 'package', 'workflows'])(
  'the suite %s refuses an option that it does not have, in one line',
  (name) => {
    const { status, stderr } = run('suite', name, '--bogus');
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: `${name}: Unknown option '--bogus': remove or correct it\n`,
    });
  },
);

test.each([
  ['synth', 'npm run synth\n'],
  ['docs', 'npm run docs -- [--serve]\n'],
  ['image', 'npm run image -- [--tag=VALUE] [--target=VALUE] [--build-arg=VALUE]... [--pinned]\n'],
])('%s --help shows the options', (command, usage) => {
  expect(run(command, '--help')).toEqual({ status: 0, stdout: usage, stderr: '' });
});
