import { AgentError, ExitCode } from '../../lib/errors.ts';
import { readEach } from './silence.ts';

const fails = () => Promise.reject(new AgentError(ExitCode.storeUnreachable, '503'));
const names = (count: number) => Array.from({ length: count }, (_, n) => String(n));

/** Reads these names, and returns how many were asked for, and how many were given out. */
async function readBut(count: number, isAway: (n: number) => boolean) {
  let asked = 0;
  const read = (id: string): Promise<string> => {
    asked++;
    return isAway(Number(id)) ? fails() : Promise.resolve('read');
  };
  const found = await readEach<string>(names(count), read, { without: () => 'away' });
  return { asked, read: found.filter((each) => each === 'read').length };
}

test('some that fail among many others do not keep the others from being read', async () => {
  expect(await readBut(10_000, (n) => n % 100 === 0)).toEqual({ asked: 10_000, read: 9_900 });
});

test('a store that gives out nothing, or too little, is not asked for everything', async () => {
  const { asked, read } = await readBut(10_000, () => true);
  expect({ read, isAsked: asked < 100 }).toEqual({ read: 0, isAsked: true });
  expect((await readBut(10_000, (n) => n % 2 === 0)).asked).toBeLessThan(200);
});
