import { writeFileSync } from 'node:fs';
import type { Sample } from '../../backup/metrics/samples.ts';
import type { CommandName } from './program.ts';

export const RESULT_SCHEMA = 'cdk8s-etcd/result/v1';

// kubelet keeps this much of a termination message.
const MAX_TERMINATION_MESSAGE = 4096;

/** What a command gives back; fields are only ever added. */
export interface CommandResult {
  readonly exitCode: number;
  /** For people. */
  readonly text: string;
  /** For programs, beside schema, command, ok and exitCode. */
  readonly data: Readonly<Record<string, unknown>>;
  /** For `--metrics-file`. */
  readonly metrics?: readonly Sample[];
}

export function resultJson(command: CommandName, { exitCode, data }: Omit<CommandResult, 'text'>): string {
  return JSON.stringify({ schema: RESULT_SCHEMA, command, ok: exitCode === 0, exitCode, ...data });
}

/** Leaves the result where kubelet picks it up as the container's termination message, when there is such a place. */
export function writeTerminationMessage(json: string, file: string | undefined): void {
  if (!file) return;
  try {
    writeFileSync(file, fit(json));
  } catch {
    // The result is on stdout all the same.
  }
}

/** Drops the longest fields until the rest fits: lists first, as their length is in nobody's hands. */
function fit(json: string): string {
  const result = JSON.parse(json) as Record<string, unknown>;
  while (Buffer.byteLength(JSON.stringify(result)) > MAX_TERMINATION_MESSAGE) {
    const sizes = Object.entries(result).map(([key, value]) => [key, JSON.stringify(value)?.length ?? 0] as const);
    const [longest] = sizes.sort(([, a], [, b]) => b - a);
    if (!longest) break;
    delete result[longest[0]];
    result.truncated = true;
  }
  return JSON.stringify(result);
}
