import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AtPoint } from './cluster/reconcile.ts';

/** For tests: this process ends, as if killed, the first time that it comes by each point; files of `directory` tell which. */
export function crashOnce(directory: string): AtPoint {
  return (point) => {
    try {
      writeFileSync(join(directory, encodeURIComponent(point)), '', { flag: 'wx' });
    } catch {
      return;
    }
    process.exit(killed);
  };
}

/** What a shell says of a SIGKILL. */
const killed = 137;
