import type { Command } from '../cli/command.ts';

/** Runs until a signal arrives. The kubelet never removes an image that a container uses. */
export const run: Command = async ({ signal }) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  // A timer, because waiting for a signal does not keep the process alive.
  const timer = setInterval(() => {}, 2 ** 31 - 1);
  signal.addEventListener('abort', () => resolve(), { once: true });
  if (signal.aborted) resolve();
  await promise;
  clearInterval(timer);
  return { exitCode: 0, text: 'stopped', data: {} };
};
