import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildProgram, type CommandName, commandNames, type Invocation } from '../../commands/cli/program.ts';
import { Settings } from '../../commands/cli/settings.ts';
import { ExitCode } from '../errors.ts';

async function parse(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Settings> {
  let invocation: Invocation | undefined;
  Object.assign(process.env, env);
  try {
    await buildProgram(async (found) => {
      invocation = found;
    })
      .configureOutput({ writeErr: () => {} })
      .parseAsync([...args], { from: 'user' });
  } finally {
    for (const name of Object.keys(env)) delete process.env[name];
  }
  return Settings.load(invocation!);
}

const no = ['false', '0', 'no', '', 'False'];
const yes = ['true', '1', 'yes', 'TRUE'];

/** Every boolean flag of every command, read from the program itself. */
const flags = buildProgram(async () => {})
  .commands.flatMap((command) => (command.commands.length > 0 ? command.commands : [command]))
  .flatMap((command) => {
    const parent = command.parent?.parent ? [command.parent.name()] : [];
    const words = [...parent, command.name()];
    const args = command.registeredArguments.filter(({ required }) => required).map(() => 'x');
    return command.options
      .filter((option) => option.isBoolean() && option.long !== '--help')
      .map((option) => [words.join(' '), option.attributeName(), option.envVar!, [...words, ...args]] as const);
  });

test('there are such flags, also below `restore`', () => {
  expect(flags.map(([command]) => command as CommandName)).toEqual(expect.arrayContaining(['backup', 'restore fetch']));
  expect(commandNames).toEqual(expect.arrayContaining(flags.map(([command]) => command)));
  expect(flags.length).toBeGreaterThan(8);
});

describe.each(flags)('%s, the flag %s', (_command, name, variable, args) => {
  test.each(no)(`is not set by '%s' in ${variable}`, async (text) => {
    expect((await parse(args, { [variable]: text })).flag(name)).toBe(false);
  });

  test.each(yes)(`is set by '%s' in ${variable}`, async (text) => {
    expect((await parse(args, { [variable]: text })).flag(name)).toBe(true);
  });

  test('is a mistake if the variable has any other text', async () => {
    await expect(parse(args, { [variable]: 'perhaps' })).rejects.toMatchObject({
      exitCode: ExitCode.usage,
      message: `${variable}: 'perhaps' is neither true nor false`,
    });
  });
});

describe('in a config file', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'boolean-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  async function force(value: string, ...more: string[]): Promise<boolean> {
    const file = join(directory, 'config.yaml');
    await writeFile(file, `force: ${value}\n`);
    return (await parse(['prune', `--config=${file}`, ...more])).flag('force');
  }

  test.each([
    ...['false', 'no', '0', "'false'", "''"].map((text) => [text, false]),
    ...['true', 'yes', '1', "'true'"].map((text) => [text, true]),
  ])('%s is %s', async (text, expected) => {
    expect(await force(String(text))).toBe(expected);
  });

  test.each(['perhaps', '2', '[true]'])('%s is a mistake', async (text) => {
    await expect(force(text)).rejects.toMatchObject({
      exitCode: ExitCode.usage,
      message: expect.stringMatching(/^--config: .*force/),
    });
  });

  test('it comes after flag and environment', async () => {
    expect(await force('false', '--force')).toBe(true);
    process.env.ETCD_AGENT_FORCE = 'false';
    try {
      expect(await force('true')).toBe(false);
    } finally {
      delete process.env.ETCD_AGENT_FORCE;
    }
  });
});
