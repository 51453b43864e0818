import { usageError } from '../errors.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Parses the value of `--listen`: `0.0.0.0:8080`, `[::]:8080`. Port 0 selects a free port. */
export function parseListen(text: string): ListenAddress {
  const [, bracketed, plain, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:\s/[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || port > 65_535) {
    throw usageError(`'${text}' is not an address and port; write 0.0.0.0:8080`, { at: 'listen' });
  }
  return { host, port };
}
