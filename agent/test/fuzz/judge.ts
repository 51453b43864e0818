import { setImmediate as turn } from 'node:timers/promises';
import { inspect } from 'node:util';
import { guard } from './guard.ts';
import { isExpected, refused, type Target } from './target.ts';
import { quotedIn } from './targets/told.ts';

/** CPU time that an input may take, in milliseconds, and further time for each of its bytes. */
const CPU = 2_000;
const CPU_EACH = 0.01;
/** Factor by which a buffer may be larger than the input, and a number of bytes in addition. */
const TIMES = 16;
const MORE = 2 * 1024 * 1024;

export interface Verdict {
  /** True if the parser accepted the input. */
  readonly taken: boolean;
  /** What is wrong. Undefined if nothing is. */
  readonly problem?: string;
}

/** Uncaught errors: of a listener, or of a promise without a handler. */
const stray: unknown[] = [];
let isWatching = false;

function watch(): void {
  if (isWatching) return;
  isWatching = true;
  process.on('uncaughtException', (error) => stray.push(error));
  process.on('unhandledRejection', (error) => stray.push(error));
}

/** Gives one input to a parser, and returns what is wrong with the outcome. */
export async function judge(target: Target, input: Buffer): Promise<Verdict> {
  watch();
  stray.length = 0;
  using memory = guard();
  const before = cpu();
  const { taken, error } = await outcomeOf(target, input);
  const took = cpu() - before;
  // A connection reports its errors one turn of the event loop later.
  await turn();
  await turn();
  const problem =
    leaked(target, error) ??
    (stray.length > 0 ? `an error that nobody handles: ${inspect(stray[0])}` : undefined) ??
    (took > CPU + CPU_EACH * input.length ? `it takes ${Math.round(took)} ms for ${input.length} bytes` : undefined) ??
    greed(target, input, memory.largest());
  return { taken, ...(problem !== undefined && { problem }) };
}

async function outcomeOf(target: Target, input: Buffer): Promise<{ taken: boolean; error?: unknown }> {
  try {
    return { taken: (await target.run(input)) !== refused };
  } catch (error) {
    return { taken: false, error };
  }
}

function leaked(target: Target, error: unknown): string | undefined {
  if (error === undefined) return undefined;
  if (!isExpected(target, error)) return `it leaks ${inspect(error)}`;
  const { message } = error as Error;
  return quotedIn(message, target.secrets ?? []) ? `its message tells a secret: ${message}` : undefined;
}

function greed({ allocates = 0 }: Target, { length }: Buffer, largest: number): string | undefined {
  const most = Math.max(allocates, TIMES * length + MORE);
  return largest > most ? `it asks for a buffer of ${largest} bytes for an input of ${length}` : undefined;
}

/** CPU time of this thread in milliseconds, however busy the machine is. */
function cpu(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
