import type { Command } from '../cli/command.ts';

/** An image that a container runs from is not collected as garbage. */
export const run: Command = async ({ signal }) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  // A signal that is waited for keeps no process alive.
  const timer = setInterval(() => {}, 2 ** 31 - 1);
  signal.addEventListener('abort', () => resolve(), { once: true });
  if (signal.aborted) resolve();
  await promise;
  clearInterval(timer);
  return { exitCode: 0, text: 'told to stop', data: {} };
};
