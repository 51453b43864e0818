import { writeFileSync } from 'node:fs';
import type { Sample } from '../../lib/metrics/sample.ts';
import type { CommandName } from './program.ts';

export const RESULT_SCHEMA = 'cdk8s-etcd/result/v1';

/** Bytes of a termination message that the kubelet keeps. */
const MAX_TERMINATION_MESSAGE = 4096;

/** Result of a command. New releases may add fields, but never remove any. */
export interface CommandResult {
  readonly exitCode: number;
  /** Output for people. */
  readonly text: string;
  /** Output for programs, in addition to schema, command, ok and exitCode. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Samples for `--metrics-file`. */
  readonly metrics?: readonly Sample[];
}

export function resultJson(command: CommandName, { exitCode, data }: Omit<CommandResult, 'text'>): string {
  return JSON.stringify({ schema: RESULT_SCHEMA, command, ok: exitCode === 0, exitCode, ...data });
}

/** Writes the result to the file that the kubelet reads as the container's termination message, if there is one. */
export function writeTerminationMessage(json: string, file: string | undefined): void {
  if (!file) return;
  try {
    writeFileSync(file, fit(json));
  } catch {
    // Ignore the failure: the result is also on stdout.
  }
}

/** How many texts a list keeps at most in a result that does not fit. */
const mostTexts = 64;

/** What whoever started the run decides by. */
const needed = ['schema', 'command', 'ok', 'exitCode', 'truncated', 'error', 'snapshot', 'stores'];

const isLong = (value: unknown, most: number): value is string[] =>
  Array.isArray(value) && value.length > most && value.every((each) => typeof each === 'string');

/** Shortens lists of texts, such as the ids of what retention deleted, and says in `<name>Count` how many there were. */
const shortened =
  (most: number) =>
  (_: string, value: unknown): unknown => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
    const long = Object.entries(value).filter(([, list]) => isLong(list, most));
    const cut = long.flatMap(([name, list]) => [
      [name, (list as string[]).slice(0, most)],
      [`${name}Count`, (list as string[]).length],
    ]);
    return { ...value, ...Object.fromEntries(cut) };
  };

/** Shortens lists of texts until the result fits. If that does not suffice, drops its longest fields, needed ones last. */
function fit(json: string): string {
  const fits = (text: string) => Buffer.byteLength(text) <= MAX_TERMINATION_MESSAGE;
  if (fits(json)) return json;
  const whole = { ...(JSON.parse(json) as Record<string, unknown>), truncated: true };
  let text = json;
  for (let most = mostTexts; most > 0 && !fits(text); most = Math.floor(most / 2))
    text = JSON.stringify(whole, shortened(most));
  const result = JSON.parse(text) as Record<string, unknown>;
  const isNeeded = (name: string) => Number(needed.includes(name));
  const sizeOf = (name: string) => JSON.stringify(result[name]).length;
  const order = Object.keys(result).toSorted((a, b) => isNeeded(a) - isNeeded(b) || sizeOf(b) - sizeOf(a));
  for (const name of order) {
    if (fits(JSON.stringify(result))) break;
    delete result[name];
  }
  return JSON.stringify(result);
}
