// The classes of imports/, as `cdk8s import` makes them from what cdk8s.yaml names.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '../..');

export function importClasses(directory) {
  const { imports } = parse(readFileSync(join(root, 'cdk8s.yaml'), 'utf8'));
  const cli = join(root, 'node_modules/cdk8s-cli/bin/cdk8s');
  for (const spec of imports) {
    const args = [
      cli,
      'import',
      '--no-save',
      '--check-upgrade=false',
      '--language=typescript',
      `--output=${directory}`,
    ];
    const { status, stdout, stderr } = spawnSync(process.execPath, [...args, spec], { cwd: root, encoding: 'utf8' });
    if (status !== 0) throw new Error(`cdk8s import ${spec}: ${stderr || stdout}`);
  }
}
