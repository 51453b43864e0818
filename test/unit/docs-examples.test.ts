// Every example of the guides compiles, and its output has no mistakes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Chart, Cron, Testing } from 'cdk8s';
import * as ts from 'typescript';
import * as library from '../../src';
import { render } from '../../src/render/run';
import { blocks, root } from '../guides';
import { s3 } from '../synth';

const examples = blocks('ts');
const resources = blocks('yaml').filter(({ code }) => code.includes('apiVersion: cdk8s-etcd.dev/'));

// A part of an app can use the names of both libraries, and these.
const surroundings = {
  app: 'App',
  chart: 'Chart',
  etcd: 'EtcdCluster',
  /** Names that a part of a backup schedule can use. */
  options: "Parameters<EtcdCluster['addBackupSchedule']>[1]",
};
const cdk8s = ['ApiObject', 'App', 'Chart', 'Cron', 'Duration', 'JsonPatch', 'Size'];
const isWhole = (code: string) => /^import /m.test(code);
const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-docs-'));
const before = process.cwd();
// Some write files with other names.
process.chdir(directory);

afterAll(() => {
  process.chdir(before);
  rmSync(directory, { recursive: true });
});

test('there are examples', () => {
  expect(examples.length).toBeGreaterThan(10);
  expect(resources.length).toBeGreaterThan(2);
});

describe('compiles', () => {
  const wrong = { name: 'wrong', code: "new EtcdCluster(chart, 'orders', { sise: 3 });" };
  let errors: Map<string, string[]>;
  beforeAll(() => {
    errors = compile(new Map([...examples, wrong].map(({ name, code }) => [name, sourceOf(code)])));
  });

  test.each(examples)('$name', ({ name }) => expect(errors.get(name)).toEqual([]));

  test('and a mistake would not', () => {
    expect(errors.get('wrong')).toEqual([expect.stringContaining("'sise' does not exist")]);
  });
});

describe('synthesizes', () => {
  test.each(examples)('$name', ({ code }) => run(code));

  test('and a mistake would not', () => {
    expect(() => run("new EtcdCluster(chart, 'orders', { size: 8 });")).toThrow(/size: 8/);
  });
});

describe('renders', () => {
  test.each(resources)('$name', ({ name, code }) => {
    expect(render(code, { file: name }).yaml).toContain('apiVersion');
  });

  test('and a mistake would not', () => {
    const [{ code } = { code: '' }] = resources;
    expect(() => render(code.replace('spec:', 'spec:\n  sise: 3'), { file: 'wrong' })).toThrow(/sise/);
  });
});

test('the tutorial loads each image that its cluster runs into kind', () => {
  const tutorial = 'docs/getting-started/tutorial.md';
  const loaded = blocks('sh')
    .filter(({ name }) => name.startsWith(tutorial))
    .flatMap(({ code }) => [...code.matchAll(/^kind load docker-image (.*) --name /gm)])
    .flatMap(([, images]) => images!.split(' '));
  const cluster = resources.find(({ name }) => name.startsWith(tutorial))!;
  const { yaml } = render(cluster.code, { file: cluster.name });
  const ours = [...yaml.matchAll(/\bimage: (ghcr\.io\/\S+)/g)].map(([, image]) => image!);
  expect(loaded.sort()).toEqual([...new Set(ours)].sort());
});

function sourceOf(code: string): string {
  if (isWhole(code)) return code;
  const declared = Object.entries(surroundings).map(([name, type]) => `declare const ${name}: ${type};`);
  const imports = [`import { ${cdk8s} } from 'cdk8s';`, `import { ${Object.keys(library)} } from 'cdk8s-etcd';`];
  // In a block, so that an example may declare any names.
  return `${imports.join('')}${declared.join('')}{${code}}`;
}

/** The errors of each source. */
function compile(sources: ReadonlyMap<string, string>): Map<string, string[]> {
  const options: ts.CompilerOptions = {
    strict: true,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
    module: ts.ModuleKind.Node16,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    paths: { 'cdk8s-etcd': [join(root, 'src/index.ts')] },
  };
  const host = ts.createCompilerHost(options);
  const files = new Map([...sources].map(([name, source]) => [join(root, `${name.replace(/\W/g, '-')}.ts`), source]));
  const { readFile, fileExists, getSourceFile } = host;
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.getSourceFile = (path, ...rest) => {
    const source = files.get(path);
    return source === undefined ? getSourceFile(path, ...rest) : ts.createSourceFile(path, source, rest[0]);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  const errorsOf = (path: string) =>
    [
      ...program.getSyntacticDiagnostics(program.getSourceFile(path)),
      ...program.getSemanticDiagnostics(program.getSourceFile(path)),
    ].map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  return new Map([...sources.keys()].map((name, index) => [name, errorsOf([...files.keys()][index]!)]));
}

function run(code: string): void {
  const { outputText } = ts.transpileModule(isWhole(code) ? code : `{${code}}`, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS },
  });
  const app = new App({ outdir: directory });
  const chart = new Chart(app, 'chart', { namespace: 'shop' });
  const etcd = /(?<!['\w-])etcd(?!['\w-])/.test(code) ? new library.EtcdCluster(chart, 'known') : undefined;
  const options = { schedule: Cron.hourly(), store: s3 };
  const names = { ...library, ...require('cdk8s'), app, chart, etcd, options };
  const load = (name: string) => (name === 'cdk8s-etcd' ? library : require(name));
  process.env.CDK8S_OUTDIR = directory;
  if (isWhole(code)) new Function('require', 'exports', outputText)(load, {});
  else new Function(...Object.keys(names), outputText)(...Object.values(names));
  Testing.synth(chart);
}
