// Compiles the library with jsii, which refuses an API that other languages cannot call, and makes what follows from it.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { withAbsoluteLinks } from './links.mjs';
import { normalizeModes } from './modes.mjs';
import { withCheckedItems } from './packages/python-package.mjs';
import { readmeFor } from './packages/readme.mjs';
import { root } from './steps.mjs';

const require = createRequire(import.meta.url);

// jsii's default is ES2020 with every TypeScript file that it finds, but the command line is not part of the API.
const tsconfig = {
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2022'],
    module: 'commonjs',
    types: ['node'],
    rootDir: '.',
    outDir: 'lib',
    strict: true,
    declaration: true,
    noEmitOnError: true,
    skipLibCheck: true,
    esModuleInterop: true,
    rewriteRelativeImportExtensions: true,
  },
  files: ['src/index.ts'],
};

// names.mjs judges the names, because jsii also refuses what only C# reserves.
const jsiiOptions = [
  '--tsconfig=tsconfig.json',
  '--validate-tsconfig=minimal',
  '--silence-warnings=reserved-word',
  '--Werr',
];

/** Makes an empty directory the package of the library for other languages. Returns its assembly. */
export function compile(directory) {
  stage(directory);
  run(directory, require.resolve('jsii/bin/jsii'), ...jsiiOptions);
  run(directory, join(root, 'scripts/lib/resource-bundle.mjs'), join(directory, 'lib'));
  return JSON.parse(readFileSync(join(directory, '.jsii'), 'utf8'));
}

/** Writes the page of the API of a compiled directory into it. */
export function document(directory, file) {
  run(directory, require.resolve('jsii-docgen/bin/jsii-docgen'), `--output=${file}`);
}

/** Makes the sources of our packages for some languages: `python`, `java` or `go`. Each has the README of its language. */
export function translateLibrary(directory, languages, outdir) {
  for (const language of languages) {
    writeReadme(directory, language);
    translate(directory, [language], outdir);
  }
  if (languages.includes('python')) checkItems(join(outdir, 'python/src/cdk8s_etcd'));
}

function writeReadme(directory, language) {
  const read = (path) => readFileSync(path, 'utf8');
  const manifest = JSON.parse(read(join(directory, 'package.json')));
  const inLanguage = readmeFor(language, read(join(root, 'README.md')), (path) => read(join(root, path)));
  const markdown = withAbsoluteLinks(inLanguage, manifest);
  writeFileSync(join(directory, 'README.md'), markdown);
  const assembly = JSON.parse(read(join(directory, '.jsii')));
  writeFileSync(join(directory, '.jsii'), JSON.stringify({ ...assembly, readme: { markdown } }, undefined, 2));
}

/** Makes the sources of the packages of a compiled directory. */
export function translate(directory, languages, outdir) {
  const targets = languages.flatMap((language) => ['--target', language]);
  run(directory, require.resolve('jsii-pacmak/bin/jsii-pacmak'), '--code-only', ...targets, '--outdir', outdir);
}

/** Lets the Python package check what is in lists and maps. */
function checkItems(directory) {
  const module = join(directory, '__init__.py');
  writeFileSync(module, withCheckedItems(readFileSync(module, 'utf8')));
  cpSync(join(root, 'scripts/lib/packages/python-checks.py'), join(directory, '_checks.py'));
}

function run(directory, program, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: directory,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${basename(program)}:\n${stdout}${stderr}`);
}

/** Copies the sources, because jsii writes into the directory that it compiles. What Git ignores is not of the commit. */
export function stage(directory) {
  const names = ['src', 'imports', 'crds', 'schemas', 'LICENSE'];
  const list = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--', ...names];
  const { stdout } = spawnSync('git', list, { cwd: root, encoding: 'utf8' });
  const ignored = new Set(stdout?.split('\0').map((path) => join(root, path)));
  const filter = (path) => !ignored.has(path);
  for (const name of names) {
    if (existsSync(join(root, name))) cpSync(join(root, name), join(directory, name), { recursive: true, filter });
  }
  normalizeModes(directory);
  // Only these: jsii-docgen would otherwise use a newer copy that belongs to a tool.
  mkdirSync(join(directory, 'node_modules'));
  for (const name of ['@types', 'cdk8s', 'constructs']) {
    symlinkSync(join(root, 'node_modules', name), join(directory, 'node_modules', name));
  }
  // The commands are not compiled, and the scripts would build the npm package.
  const { bin, scripts, workspaces, ...manifest } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const files = ['lib/**/*.js', 'crds/*.yaml', 'schemas/*.json', '.jsii'];
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ ...manifest, files }));
  writeFileSync(
    join(directory, 'README.md'),
    withAbsoluteLinks(readFileSync(join(root, 'README.md'), 'utf8'), manifest),
  );
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(tsconfig));
}
