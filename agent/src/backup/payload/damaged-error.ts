import { AgentError, ExitCode } from '../../lib/errors.ts';

/** Error of a payload that is missing or is not what its manifest describes. No restore accepts it, whatever the flags. */
export class DamagedError extends AgentError {
  constructor(message: string, options?: ErrorOptions) {
    super(ExitCode.verificationFailed, message, options);
  }
}

/** Error of a payload that is missing or has another size, as every listing shows for as long as it is so. */
export class MissingError extends DamagedError {}
