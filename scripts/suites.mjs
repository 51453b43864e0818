// `node scripts/suites.mjs [--smoke] [--workers N] PATH…`: slow suites, N files at once; --smoke is for CI, where the whole
// would not fit.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false }, workers: { type: 'string' } },
});
const workers = values.workers ? [`--maxWorkers=${values.workers}`] : [];
const { status } = spawnSync('npm', ['run', '-s', 'suite', '--', ...workers, ...positionals], {
  cwd: join(import.meta.dirname, '..'),
  stdio: 'inherit',
  env: { ...process.env, SMOKE: values.smoke ? '1' : '' },
});
process.exitCode = status ?? 1;
