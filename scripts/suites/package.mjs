// `npm run suite -- package`: packs the library, installs the tarball into an empty cdk8s app with the newest peers, and
// synthesizes there with Node 22, the oldest that the library supports.
import { deepStrictEqual, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { say } from '../lib/run.mjs';
import { synthesize } from '../lib/synthesize.mjs';
import { packPackage } from '../release/package.mjs';

parseArgs();
const root = join(import.meta.dirname, '../..');
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_|^INIT_CWD$|^NODE$/.test(name)));

const javascript = {
  'app.mjs': "import { App, Chart } from 'cdk8s';\nimport { EtcdCluster, EtcdCrds } from 'cdk8s-etcd';\n",
  'app.cjs': "const { App, Chart } = require('cdk8s');\nconst { EtcdCluster, EtcdCrds } = require('cdk8s-etcd');\n",
};
const app = `
const app = new App();
new EtcdCrds(new Chart(app, 'crds'), 'crds');
new EtcdCluster(new Chart(app, 'orders'), 'orders');
app.synth();
`;

// The types of the custom resources.
const typed = `
import { ApiObject, App, Chart } from 'cdk8s';
import type { EtcdClusterSpec } from 'cdk8s-etcd/lib/src/resource/types';

const app = new App();
const spec: EtcdClusterSpec = { size: 3, version: '3.6.16' };
new ApiObject(new Chart(app, 'typed'), 'orders', { apiVersion: 'cdk8s-etcd.dev/v1alpha1', kind: 'EtcdCluster', spec });
app.synth();
`;

const consumerSource = `
import { EtcdCluster } from 'cdk8s-etcd';
import { Construct } from 'constructs';

/** Makes the etcd of a shop. */
export class ShopEtcd extends EtcdCluster {
  constructor(scope: Construct, id: string) {
    super(scope, id, { size: 3 });
  }
}
`;
const anyVersion = { 'cdk8s-etcd': '*', cdk8s: '^2', constructs: '^10' };
const consumerManifest = {
  ...{ name: 'consumer', version: '1.0.0', license: 'Apache-2.0', main: 'index.js', types: 'index.d.ts' },
  ...{
    author: { name: 'Ann' },
    repository: { url: 'https://example.com/consumer.git' },
    jsii: { outdir: 'pkg', targets: {} },
  },
  ...{ peerDependencies: anyVersion, devDependencies: anyVersion },
};

const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-package-'));
const at = (...names) => join(directory, ...names);
// npm puts its own in front for its scripts.
const others = process.env.PATH.split(delimiter).filter((entry) => !entry.endsWith('node_modules/.bin'));
env.PATH = [at('node_modules/.bin'), ...others].join(delimiter);
try {
  await install();
  const version = run('node', ['--version']).trim();
  ok(version.startsWith('v22.'), `the app runs on Node ${version} instead of 22`);
  say(`packed and installed; node is ${version}`);
  for (const [file, imports] of Object.entries(javascript)) tryJavaScript(file, imports + app);
  const examples = readdirSync(at('node_modules/cdk8s-etcd/examples')).filter((name) => name.endsWith('.ts'));
  compile(examples);
  for (const example of examples) tryExample(example.replace('.ts', ''));
  tryTyped();
  tryJsii();
  tryRender();
  tryPlugin();
} catch (error) {
  console.error(`package: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(directory, { recursive: true });
}

async function install() {
  const archive = await packPackage(directory, env);
  const files = run('tar', ['-tzf', archive]).trimEnd().split('\n');
  const belongs =
    /^(lib\/(src|imports)\/.*\.(js|d\.ts)|lib\/(kubectl-etcd|THIRD_PARTY_LICENSES)|crds\/\w+\.yaml|schemas\/\w+\.json|gitops\/.+|docs\/.+\.(md|svg)|examples\/.+|package\.json|\.jsii|(README|API|CHANGELOG)\.md|LICENSE)$/;
  const odd = files.map((name) => name.replace('package/', '')).filter((name) => !belongs.test(name));
  ok(odd.length === 0, `these do not belong into the package: ${odd.join(', ')}`);
  // The npm package of Node gets its program by a script.
  writeFileSync(at('package.json'), JSON.stringify({ private: true, allowScripts: { node: true } }));
  const options = ['--no-fund', '--no-audit', '--prefer-offline', '--loglevel=error'];
  run('npm', ['install', ...options, archive, 'cdk8s@^2', 'constructs@^10', 'node@22']);
}

function tryJavaScript(file, source) {
  writeFileSync(at(file), source);
  const files = synthesized(file);
  deepStrictEqual([...files.keys()], ['crds.k8s.yaml', 'orders.k8s.yaml']);
  const kinds = (name) => parseAllDocuments(files.get(name)).map((document) => document.toJS().kind);
  deepStrictEqual(new Set(kinds('crds.k8s.yaml')), new Set(['CustomResourceDefinition']));
  for (const kind of ['EtcdCluster', 'StatefulSet', 'Deployment'])
    ok(kinds('orders.k8s.yaml').includes(kind), `no ${kind}`);
  say(`${file}: ${kinds('orders.k8s.yaml').length} objects`);
}

/** The examples of the package in a reader's project, with the strictest compiler settings. */
function compile(examples) {
  for (const name of examples) {
    copyFileSync(at('node_modules/cdk8s-etcd/examples', name), at(name));
  }
  writeFileSync(at('typed.ts'), typed);
  // The library itself must need no types of Node.
  const [withNode, plain] = [true, false].map((is) => examples.filter((name) => is === importsNode(name)));
  tsc([...plain, 'typed.ts'], { types: [] });
  tsc(withNode, { types: ['node'], typeRoots: [join(root, 'node_modules/@types')] });
}

function importsNode(name) {
  return / from 'node:/.test(readFileSync(at(name), 'utf8'));
}

function tsc(files, types) {
  const compilerOptions = { strict: true, skipLibCheck: false, module: 'node16', target: 'es2022', ...types };
  writeFileSync(at('tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  run('node', [join(root, 'node_modules/typescript/bin/tsc')]);
}

function tryExample(name) {
  const directory = at('expected');
  mkdirSync(directory);
  synthesize(`examples/${name}.ts`, directory);
  const [expected, found] = [contents(directory), synthesized(`${name}.js`)];
  rmSync(directory, { recursive: true });
  const files = [...new Set([...expected.keys(), ...found.keys()])];
  const different = files.filter((file) => expected.get(file) !== (found.get(file) ?? beside(file)));
  ok(different.length === 0, `examples/${name}.ts: the tarball makes another ${different.join(', ')}`);
  say(`examples/${name}.ts: the same from the tarball`);
}

/** Files that an app writes with other names are next to dist/. */
function beside(file) {
  return existsSync(at(file)) ? readFileSync(at(file), 'utf8') : undefined;
}

function tryTyped() {
  const yaml = synthesized('typed.js').get('typed.k8s.yaml');
  ok(yaml?.includes('kind: EtcdCluster'), 'an app with the types makes no EtcdCluster');
  say('lib/src/resource/types: the types of the custom resources');
}

/** A library in several languages whose own API uses this one. */
function tryJsii() {
  const consumer = at('consumer');
  mkdirSync(consumer);
  symlinkSync(at('node_modules'), join(consumer, 'node_modules'));
  writeFileSync(join(consumer, 'index.ts'), consumerSource);
  writeFileSync(join(consumer, 'README.md'), '# consumer');
  writeFileSync(join(consumer, 'package.json'), JSON.stringify(consumerManifest));
  run('node', [join(root, 'node_modules/jsii/bin/jsii'), '--silence-warnings=reserved-word'], consumer);
  const { types } = JSON.parse(readFileSync(join(consumer, '.jsii'), 'utf8'));
  const { base } = types['consumer.ShopEtcd'];
  ok(base === 'cdk8s-etcd.EtcdCluster', `jsii takes ${base} for the base of a class that extends EtcdCluster`);
  say('.jsii: a jsii library that extends EtcdCluster');
}

function tryRender() {
  const cluster = {
    apiVersion: 'cdk8s-etcd.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name: 'orders' },
    spec: { size: 3, version: '3.6.16' },
  };
  writeFileSync(at('cluster.yaml'), JSON.stringify(cluster));
  const yaml = run('npx', ['--no', 'cdk8s-etcd', 'render', 'cluster.yaml']);
  const kinds = parseAllDocuments(yaml).map((document) => document.toJS().kind);
  for (const kind of ['EtcdCluster', 'StatefulSet']) ok(kinds.includes(kind), `render: no ${kind}`);
  say(`npx cdk8s-etcd render: ${kinds.length} objects`);
}

function tryPlugin() {
  const help = run('npx', ['--no', '--', 'kubectl-etcd', '--help']);
  ok(help.includes('status [options] [name]'), 'kubectl-etcd --help does not list its verbs');
  const config = {
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'ann' } }],
    clusters: [{ name: 'test', cluster: { server: 'https://127.0.0.1:9' } }],
    users: [{ name: 'ann', user: { token: 'x' } }],
  };
  writeFileSync(at('kubeconfig'), JSON.stringify(config));
  const words = ['--no', '--', 'kubectl-etcd', 'status', '--kubeconfig=kubeconfig'];
  const { status, stderr } = spawnSync('npx', words, { cwd: directory, env, encoding: 'utf8' });
  ok(status === 5 && stderr.includes('ECONNREFUSED'), `kubectl-etcd status at a closed port: ${status}: ${stderr}`);
  const rendered = run('npx', ['--no', '--', 'kubectl-etcd', 'render', 'cluster.yaml']);
  ok(
    rendered === run('npx', ['--no', 'cdk8s-etcd', 'render', 'cluster.yaml']),
    'kubectl-etcd render differs from cdk8s-etcd',
  );
  say('npx kubectl-etcd: its help, that it cannot reach an API server, and that it renders the same as cdk8s-etcd');
}

/** Output of an app, by file. */
function synthesized(file) {
  rmSync(at('dist'), { recursive: true, force: true });
  run('node', [file]);
  return contents(at('dist'));
}

function contents(from) {
  return new Map(
    readdirSync(from)
      .sort()
      .map((name) => [name, readFileSync(join(from, name), 'utf8')]),
  );
}

/** Stdout of a program, run by the Node of the app. */
function run(program, args, cwd = directory) {
  const { error, status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}:\n${stderr}${stdout}`);
  return stdout;
}
