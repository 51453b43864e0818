import { AgentError, ExitCode } from '../errors.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** `0.0.0.0:8080`, `[::]:8080`; port 0 means any. */
export function parseListen(text: string): ListenAddress {
  const [, bracketed, plain, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:\s/[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || port > 65_535) {
    throw new AgentError(ExitCode.usage, `--listen: '${text}' is no address; write 0.0.0.0:8080`);
  }
  return { host, port };
}
