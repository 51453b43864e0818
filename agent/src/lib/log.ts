import type { Writable } from 'node:stream';
import { pino } from 'pino';
import pretty from 'pino-pretty';

export type Log = pino.Logger;

/** Creates a log on stderr: readable lines on a terminal, JSON elsewhere. */
export function createLog(stderr: Writable & { isTTY?: boolean }): Log {
  const options: pino.LoggerOptions = {
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level) => ({ level }) },
  };
  if (!stderr.isTTY) return pino(options, stderr);
  return pino(
    options,
    pretty({
      destination: stderr,
      colorize: true,
      sync: true,
      ignore: 'time,level,phase,bytes,totalBytes',
      hideObject: true,
      minimumLevel: 'warn',
    }),
  );
}
