import { readFile } from 'node:fs/promises';
import { processesOf } from './processes.ts';

test('what a manifest has started is known by its whole command', async () => {
  const [program, ...args] = (await readFile('/proc/self/cmdline', 'utf8')).replace(/\0$/, '').split('\0') as [string, ...string[]];
  const isFound = async (command: { program: string; args: readonly string[] }) =>
    (await processesOf(command)).some(({ pid }) => pid === process.pid);
  const last = args.at(-1)!;
  expect(await isFound({ program, args })).toBe(true);
  // By way of another program, as of a wrapper in the image.
  expect(await isFound({ program, args: [last] })).toBe(true);
  expect(await isFound({ program, args: [...args.slice(0, -1), `${last.slice(0, 2)}$(NODE_IP)`] })).toBe(true);
  expect(await isFound({ program, args: [...args, '--more'] })).toBe(false);
  expect(await isFound({ program, args: ['--other', last] })).toBe(false);
  expect(await isFound({ program: 'another', args })).toBe(false);
  // Without arguments it may be any process of this name.
  expect(await isFound({ program, args: [] })).toBe(false);
});
