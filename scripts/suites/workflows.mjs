// `npm run suite -- workflows`: actionlint on .github/workflows.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { goProgram } from '../lib/go/go-program.mjs';
import { root } from '../lib/steps.mjs';

parseArgs();
try {
  const actionlint = await goProgram('actionlint', 'github.com/rhysd/actionlint/cmd/actionlint', 'a minute or so');
  const { status } = spawnSync(actionlint, ['-no-color'], { cwd: root, stdio: 'inherit' });
  process.exitCode = status ?? 1;
} catch (error) {
  console.error(`workflows: actionlint is missing and cannot be built here: install Go 1.26 (${error.message})`);
  process.exitCode = 2;
}
