import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildProgram, type Invocation } from './program.ts';
import { Settings } from './settings.ts';

let place: string;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'settings-'));
});
afterEach(async () => {
  delete process.env.ETCD_AGENT_KEEP_FILE;
  await rm(place, { recursive: true });
});

describe('the ids of --keep-file', () => {
  async function keep(...args: string[]): Promise<string[] | undefined> {
    let invocation: Invocation | undefined;
    const program = buildProgram(async (found) => {
      invocation = found;
    });
    await program.parseAsync(['node', 'etcd-agent', 'prune', '--store=file:///x', '--retention=last=1', ...args]);
    const ids = await (await Settings.load(invocation!)).keep();
    return ids && [...ids.keys()];
  }
  const file = async (content: string) => {
    await writeFile(join(place, 'kept'), content);
    return `--keep-file=${join(place, 'kept')}`;
  };

  test('are one per line, whatever wrote the lines', async () => {
    expect(await keep(await file('first\r\n second \n\n'))).toEqual(['first', 'second']);
    expect(await keep(await file(''))).toEqual([]);
    expect(await keep()).toEqual([]);
  });

  test.each(['first second', '{"ids":[]}', '# kept', 'orders/first.db'])(
    'another line is refused: %s',
    async (line) => {
      await expect(keep(await file(`first\n${line}\n`))).rejects.toThrow(/--keep-file: .*kept: line 2 is not the id/);
    },
  );

  test('are unknown if the file that a pod mounts does not exist; another one is refused', async () => {
    const missing = join(place, 'typo');
    await expect(keep(`--keep-file=${missing}`)).rejects.toThrow(/--keep-file: cannot read .*typo/);
    process.env.ETCD_AGENT_KEEP_FILE = missing;
    expect(await keep()).toBeUndefined();
  });
});
