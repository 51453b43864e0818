import { EventEmitter } from 'node:events';
import { LeaseLost } from '../../kube/lease.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { loggingRejections, runAgain } from './reconcile.ts';

const { signal } = new AbortController();

test('a Lease that is lost does not end the process; the next reconciler knows nothing', async () => {
  const lost = new LeaseLost(ExitCode.unexpected, 'the Lease is lost: no answer');
  const runs: number[] = [];
  const said: string[] = [];
  const begin = () => ({
    run: async () => {
      runs.push(runs.length);
      if (runs.length < 3) throw lost;
    },
  });
  await runAgain(begin, signal, { warn: (line: unknown) => said.push(String(line)) } as never);
  expect(runs).toHaveLength(3);
  expect(said).toEqual(Array(2).fill('the Lease is lost: no answer; waiting for the Lease'));
});

test('any other error does', async () => {
  const other = new AgentError(ExitCode.unexpected, 'out of ports');
  const begin = () => ({ run: () => Promise.reject(other) });
  await expect(runAgain(begin, signal, { warn: () => {} } as never)).rejects.toBe(other);
});

test('a rejection that nobody handles is logged, and ends no other cluster', () => {
  const source = new EventEmitter();
  const said: string[] = [];
  const end = loggingRejections(source, { error: (_: unknown, line?: string) => said.push(String(line)) } as never);
  source.emit('unhandledRejection', new TypeError('no metadata'));
  expect(said).toEqual(['an error that nobody handles: no metadata']);
  end();
  expect(source.listenerCount('unhandledRejection')).toBe(0);
});
