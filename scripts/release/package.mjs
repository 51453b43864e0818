// The files of the npm package, in a directory of their own, because npm packs files as they are. A guide there links to the
// repository for what the package has not, and an example imports the package.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { compile } from '../lib/assembly.mjs';
import { withAbsoluteLinks } from '../lib/links.mjs';
import { atExit, run } from '../lib/run.mjs';
import { build, orThrow, plugin, root } from '../lib/steps.mjs';
import { tracked } from './tracked.mjs';

/** Packs the npm package into a directory. Returns the path of the archive. */
export async function packPackage(destination, env = process.env) {
  const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-npm-'));
  const remove = atExit(() => rmSync(directory, { recursive: true }));
  try {
    stageFiles(directory);
    compilePackage(directory);
    // The scripts of the package are for a checkout.
    const args = ['pack', '--silent', '--ignore-scripts', `--pack-destination=${destination}`];
    const name = await run('npm', args, { cwd: directory, env });
    return join(destination, name.trim());
  } finally {
    remove();
  }
}

/** Writes what is compiled: lib/, and .jsii, from which jsii makes packages that use this one. */
export function compilePackage(directory) {
  build(join(directory, 'lib'), orThrow);
  plugin(join(directory, 'lib'), orThrow);
  const assembly = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-assembly-'));
  try {
    compile(assembly);
    copyFileSync(join(assembly, '.jsii'), join(directory, '.jsii'));
  } finally {
    rmSync(assembly, { recursive: true });
  }
}

/** Copies what Git tracks of the package: neither lib/ nor what happens to lie beside a guide. */
export function stageFiles(directory) {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const patterns = manifest.files.map((pattern) => pattern.replace(/^!/, ':(exclude)'));
  const paths = tracked('package.json', 'README.md', 'LICENSE', ...patterns);
  const folders = paths.flatMap((path) => path.split('/').map((_, depth, names) => names.slice(0, depth).join('/')));
  const all = new Set([...paths, ...folders]);
  const keeps = (path) => all.has(path.replace(/\/$/, ''));
  for (const path of paths) {
    const file = join(directory, path);
    mkdirSync(dirname(file), { recursive: true });
    copyFileSync(join(root, path), file);
    const change = (text) => writeFileSync(file, text(readFileSync(file, 'utf8')));
    if (path.endsWith('.md')) change((text) => withAbsoluteLinks(text, manifest, { from: path, keeps }));
    if (posix.extname(path) === '.ts') change(withPackageName);
  }
}

const withPackageName = (source) => source.replace(/ from '(?:\.\.\/)+src';/g, " from 'cdk8s-etcd';");
