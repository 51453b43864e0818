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

/** Number of texts of a list that a result which does not fit keeps. */
const mostTexts = 64;

const isText = (value: unknown): boolean => typeof value === 'string';

/** Shortens lists of texts, such as the ids of what retention deleted: else they would take the rest with them. */
const shortened = (_: string, value: unknown): unknown =>
  Array.isArray(value) && value.length > mostTexts && value.every(isText) ? value.slice(0, mostTexts) : value;

/** Shortens lists and drops the longest fields until the rest fits. These are usually lists, whose length has no limit. */
function fit(json: string): string {
  if (Buffer.byteLength(json) <= MAX_TERMINATION_MESSAGE) return json;
  const result = JSON.parse(JSON.stringify(JSON.parse(json), shortened)) as Record<string, unknown>;
  result.truncated = true;
  while (Buffer.byteLength(JSON.stringify(result)) > MAX_TERMINATION_MESSAGE) {
    const sizes = Object.entries(result).map(([key, value]) => [key, JSON.stringify(value)?.length ?? 0] as const);
    const [longest] = sizes.sort(([, a], [, b]) => b - a);
    if (!longest) break;
    delete result[longest[0]];
  }
  return JSON.stringify(result);
}
