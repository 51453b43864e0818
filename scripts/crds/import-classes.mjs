// Generates the classes of imports/ with `cdk8s import`, from the Prometheus operator's definitions.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { prometheusOperatorCrds } from '../lib/foreign-crds.mjs';

const root = join(import.meta.dirname, '../..');
const foreign = /-monitoring[.]coreos[.]com[.]ts$/;

function importClass(directory, spec) {
  const cli = join(root, 'node_modules/cdk8s-cli/bin/cdk8s');
  const args = [cli, 'import', '--no-save', '--check-upgrade=false', '--language=typescript', `--output=${directory}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, spec], { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`cdk8s import ${spec}: ${stderr || stdout}`);
}

/** Without Go, keeps the present files. */
export async function importClasses(directory) {
  const source = await prometheusOperatorCrds().catch((error) => {
    console.error(`imports/ of the Prometheus operator are left as they are: its CRDs need Go (${error.message})`);
  });
  if (source === undefined) {
    const present = join(root, 'imports');
    if (directory === present) return;
    for (const file of readdirSync(present).filter((name) => foreign.test(name)))
      copyFileSync(join(present, file), join(directory, file));
    return;
  }
  const bare = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-crds-'));
  try {
    for (const file of readdirSync(source)) {
      const [, plural] = /_(\w+)s[.]yaml$/.exec(file);
      const definition = parse(readFileSync(join(source, file), 'utf8'));
      writeFileSync(join(bare, file), stringify(withoutTexts(definition)));
      importClass(directory, `${plural}:=${join(bare, file)}`);
    }
  } finally {
    rmSync(bare, { recursive: true });
  }
}

/** Only the types are needed; the texts belong to the other project. */
function withoutTexts(node, isProperties = false) {
  if (Array.isArray(node)) return node.map((each) => withoutTexts(each));
  if (typeof node !== 'object' || node === null) return node;
  const kept = Object.entries(node).filter(
    ([key, value]) => isProperties || key !== 'description' || typeof value !== 'string',
  );
  return Object.fromEntries(
    kept.map(([key, value]) => [key, withoutTexts(value, !isProperties && key === 'properties')]),
  );
}
