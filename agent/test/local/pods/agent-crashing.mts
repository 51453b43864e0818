import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commands } from '../../../src/commands/commands.ts';
import { runWith } from '../../../src/commands/pods/reconcile.ts';
import type { AtPoint } from '../../../src/controllers/port/port.ts';

/**
 * Entry point of the suites named `…-crashes`: the agent, with a reconciler that ends before and after the first time
 * of each of its steps, as if killed. It leaves a file named after each of these points in the directory
 * CRASH_ONCE_DIR.
 */
const directory = process.env.CRASH_ONCE_DIR;
if (!directory)
  throw new Error('CRASH_ONCE_DIR is not set; name a directory for the points at which the reconciler ends');
mkdirSync(directory, { recursive: true });
const at = crashOnce(directory);
commands.reconcile = async () => ({ run: (context) => runWith(context, { at }) });
await import('../../../src/cli.ts');

function crashOnce(crashes: string): AtPoint {
  return (point) => {
    try {
      writeFileSync(join(crashes, encodeURIComponent(point)), '', { flag: 'wx' });
    } catch {
      // If the file exists, the reconciler has already ended at this point.
      return;
    }
    // Exit code that a shell reports after SIGKILL.
    process.exit(137);
  };
}
