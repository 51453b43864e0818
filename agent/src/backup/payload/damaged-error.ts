import { AgentError, ExitCode } from '../../lib/errors.ts';

/** Error of a payload that is missing or is not what its manifest describes. No restore accepts it, whatever the flags. */
export class DamagedError extends AgentError {
  constructor(message: string, options?: ErrorOptions) {
    super(ExitCode.verificationFailed, message, options);
  }
}
