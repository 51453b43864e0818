import { AgentError, type ExitCode } from '../../lib/errors.ts';
import type { Entry } from './catalog.ts';

/** Error of a snapshot whose manifest or payload is missing, damaged or withheld. A command adds the way out. */
export class IncompleteError extends AgentError {
  readonly entry: Entry;

  constructor(exitCode: ExitCode, message: string, entry: Entry) {
    super(exitCode, message);
    this.entry = entry;
  }
}
