// `node scripts/suites.mjs [--smoke] PATH…`: slow suites; --smoke is for CI, where the whole would not fit.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false } },
});
const { status } = spawnSync('npm', ['run', '-s', 'suite', '--', ...positionals], {
  cwd: join(import.meta.dirname, '..'),
  stdio: 'inherit',
  env: { ...process.env, SMOKE: values.smoke ? '1' : '' },
});
process.exitCode = status ?? 1;
