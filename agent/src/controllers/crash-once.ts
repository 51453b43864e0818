import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AtPoint } from './cluster/reconcile.ts';

/** For tests: ends this process as if it were killed, once at each point. Files in `directory` record the points. */
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

/** Exit code of a process after SIGKILL, as in a shell. */
const killed = 137;
