import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { CommandContext } from '../cli/command.ts';
import { run } from './keep-image.ts';

test('it ends with the signal, even if that came before, and not earlier', async () => {
  const stop = new AbortController();
  const context = {
    ...{ signal: stop.signal, log: pino({ level: 'silent' }) },
    progress: { phase() {}, bytes() {}, end() {} },
  } as unknown as CommandContext;
  const running = run(context);
  expect(await Promise.race([running, sleep(20, 'still there')])).toBe('still there');
  stop.abort();
  expect(await running).toMatchObject({ exitCode: 0 });
  expect(await run(context)).toMatchObject({ exitCode: 0 });
});
