import { parseArgs } from 'node:util';

export interface Options {
  /** MiB of database. */
  readonly size: number;
  readonly rounds: number;
  readonly server: 'versitygw' | 'radosgw';
  /** Too little data for the goals. */
  readonly smoke: boolean;
}

/**
 * `--size MIB --rounds N --server versitygw|radosgw`, or `--smoke` for a short run that only shows that everything
 * works.
 */
export function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      size: { type: 'string' },
      rounds: { type: 'string' },
      server: { type: 'string', default: 'versitygw' },
      smoke: { type: 'boolean', default: false },
    },
  });
  const { server } = values;
  if (server !== 'versitygw' && server !== 'radosgw') throw new Error('--server: versitygw or radosgw');
  return {
    size: whole('--size', values.size ?? (values.smoke ? '64' : '1024')),
    rounds: whole('--rounds', values.rounds ?? (values.smoke ? '1' : '5')),
    server,
    smoke: values.smoke,
  };
}

function whole(flag: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${flag}: '${text}' is no number above 0`);
  return value;
}
