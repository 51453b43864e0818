import { flushCompileCache } from 'node:module';
import { buildProgram } from '../../../src/commands/cli/program.ts';
import { Settings } from '../../../src/commands/cli/settings.ts';
import { Budget } from '../../../src/lib/limits/budget.ts';
import { createLog } from '../../../src/lib/log.ts';
import { PhaseTimes } from '../../../src/lib/terminal/phase-times.ts';
import { createProgress } from '../../../src/lib/terminal/progress.ts';
import { crashAt, etcdOn } from './crash.ts';

/** Runs the agent from source. With CRASH_DIR, gate and serve end at the points that the files in it name. */
const [, , command] = process.argv;
const dir = process.env.CRASH_DIR;

if (dir !== undefined && (command === 'gate' || command === 'serve')) await runMember(command, dir);
else await import('../../../src/cli.ts');

async function runMember(who: 'gate' | 'serve', directory: string): Promise<void> {
  const stop = new AbortController();
  process.on('SIGTERM', () => stop.abort(new Error('SIGTERM')));
  const { runWith } =
    who === 'gate'
      ? await import('../../../src/commands/pods/gate.ts')
      : await import('../../../src/commands/pods/serve.ts');
  await buildProgram(async (invocation) => {
    const log = createLog(process.stderr);
    const settings = await Settings.load(invocation);
    const progress = new PhaseTimes(createProgress(log, process.stderr));
    const context = { settings, log, progress, signal: stop.signal, budget: new Budget({ signal: stop.signal }) };
    const dataDir = settings.text('dataDir') ?? '';
    const killSelf = crashAt(directory, who);
    const killEtcd = crashAt(directory, 'etcd', () => etcdOn(dataDir));
    const at = (point: string) => {
      if (who === 'serve') killEtcd(point);
      killSelf(point);
    };
    flushCompileCache();
    const { exitCode, text } = await runWith(context, { at });
    if (exitCode !== 0) process.stderr.write(`${text}\n`);
    process.exit(exitCode);
  }).parseAsync();
}
