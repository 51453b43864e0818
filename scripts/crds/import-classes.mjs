// Generates the classes of imports/ with `cdk8s import`, from the files that cdk8s.yaml lists.
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
