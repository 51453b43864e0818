// `npm run suite -- languages [--smoke] [LANGUAGE…]`: the library in other languages. The app of examples/ runs on the package that
// jsii-pacmak makes, writes the same files as in TypeScript, byte for byte, and the same mistakes cause the same messages.
import { ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { compile, translate, translateLibrary } from '../lib/assembly.mjs';
import { run, say } from '../lib/run.mjs';
import { root } from '../lib/steps.mjs';

const { devDependencies, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const peers = ['cdk8s', 'constructs'].map((name) => ({ name, version: devDependencies[name] }));
const timeout = 600_000;

const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-languages-'));
const at = (...names) => join(directory, ...names);
const library = at('library');
const packages = at('packages');

/** `prepare` installs the package; `command` is what runs an app. */
const languages = {
  python: {
    example: 'examples/python/main.py',
    async prepare() {
      await run('python3', ['-m', 'venv', at('venv')], { timeout });
      const pinned = peers.map(({ name, version }) => `${name}==${version}`);
      const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
      await run(at('venv/bin/python'), [...pip, join(packages, 'python'), ...pinned], { timeout });
    },
    command: (file) => [at('venv/bin/python'), file],
    // Java and Go have types for what is in a list or a map.
    refused: [
      ['tolerations=[{"keey": "dedicated", "operator": "Exists"}]', 'tolerations[0] must be Toleration; got dict'],
      ['egress={"api_server": [{"cidr": "10.0.0.1/32"}]}', 'api_server[0] must be NetworkDestination; got dict'],
      ['image_pull_secrets=("registry",)', 'image_pull_secrets must be list; got tuple'],
      ['image_pull_secrets="registry"', 'image_pull_secrets must be list; got str'],
      ['labels={"team": None}', "labels['team'] must be str; got None"],
      ['labels={"team": app}', "labels['team'] must be str; got App"],
      ['settings={"max-txn-ops": (256,)}', "settings['max-txn-ops'] must be list; got tuple"],
    ],
    // What is right stays right.
    taken: ['settings={"max-txn-ops": 256}', 'labels={"team": "orders"}', 'image_pull_secrets=["registry"]'],
  },
  java: {
    example: 'examples/java/Main.java',
    async prepare() {
      const pom = join(packages, 'java/pom.xml');
      // Its ranges would choose the newest: another cdk8s may write other files.
      writeFileSync(pom, readFileSync(pom, 'utf8').replace(/<version>\[(.*),.*\)</g, '<version>$1<'));
      const flags = ['-B', '-q', '-f', pom, '-Dmaven.javadoc.skip', '-Dmaven.source.skip'];
      const goals = ['package', 'dependency:build-classpath', `-Dmdep.outputFile=${at('classpath')}`];
      await run('mvn', [...flags, ...goals], { timeout });
    },
    command(file) {
      const classpath = [join(packages, 'java/target/*'), readFileSync(at('classpath'), 'utf8')].join(delimiter);
      return ['java', '-classpath', classpath, file];
    },
  },
  go: {
    example: 'examples/go/main.go',
    async prepare() {
      // Made from cdk8s' npm package, because its own Go module is not on every proxy.
      cpSync(join(root, 'node_modules/cdk8s'), at('cdk8s'), { recursive: true });
      mkdirSync(at('node_modules'));
      symlinkSync(join(root, 'node_modules/constructs'), at('node_modules/constructs'));
      translate(at('cdk8s'), ['go'], packages);
      const modules = ['cdk8setcd', 'cdk8s'].map((name) => join(packages, 'go', name));
      const [ours, cdk8s] = modules.map((module) => readFileSync(join(module, 'go.mod'), 'utf8'));
      const nameOf = (module) => module.match(/^module (.*)/)[1];
      const lines = [
        ours.replace(/^module .*/, 'module example'),
        `require ${nameOf(ours)} v${version}`,
        ...[ours, cdk8s].map((module, index) => `replace ${nameOf(module)} => ${modules[index]}`),
      ];
      writeFileSync(at('go.mod'), `${lines.join('\n')}\n`);
    },
    command: (file) => ['go', 'run', '-mod=mod', file],
  },
};

/** The same change in every language, with a word of the message that it must cause. */
const mistakes = [
  { change: (source) => source.replace(/(?<=\bsize\W+(?:jsii\.Number\()?)3\b/i, '4'), says: 'size: an even size' },
  { change: (source) => source.replace(/(?<=["'])17(?=["'])/, '60'), says: "minute '60'" },
  { change: (source) => source.replace('eu-west-1', ''), says: 'region' },
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false } },
});
// Maven downloads, and Go compiles, for minutes on a machine that has not built anything yet.
const all = values.smoke ? ['python'] : Object.keys(languages);
const chosen = positionals.length > 0 ? positionals : all;

try {
  const unknown = chosen.filter((language) => !(language in languages));
  ok(unknown.length === 0, `${unknown} is not a language of this suite; use ${Object.keys(languages).join(' or ')}`);
  mkdirSync(library);
  compile(library);
  const typescript = readFileSync(join(root, 'examples/typescript/main.ts'), 'utf8');
  const inLibrary = (source) => source.replace("'../../src'", "'./lib/src/index.js'");
  const byNode = (name, source) =>
    synthesized(name, inLibrary(source), join(library, 'main.ts'), (file) => ['node', file]);
  const expected = byNode('typescript', typescript);
  ok(expected.status === 0, `examples/typescript/main.ts: ${expected.stderr}`);
  const messages = mistakes.map(({ change, says }) => messageOf(byNode('mistake', change(typescript)).stderr, says));

  translateLibrary(library, chosen, packages);
  for (const language of chosen) {
    const { example, prepare, command } = languages[language];
    const started = performance.now();
    await prepare();
    const source = readFileSync(join(root, example), 'utf8');
    const file = at(example.replaceAll('/', '-'));
    compare(example, expected.files, synthesized(language, source, file, command));
    mistakes.forEach(({ change }, index) => {
      const { status, stderr } = synthesized('mistake', change(source), file, command);
      ok(status !== 0, `${example}: accepts what TypeScript refuses: ${messages[index]}`);
      ok(stderr.includes(messages[index]), `${example}: says\n${stderr}\ninstead of\n${messages[index]}`);
    });
    for (const [argument, says] of languages[language].refused ?? []) {
      const { status, stderr } = synthesized('refused', source.replace('size=3', `size=3, ${argument}`), file, command);
      ok(
        status !== 0 && stderr.includes(says),
        `${example}: accepts ${argument}, or does not say '${says}':\n${stderr}`,
      );
    }
    for (const argument of languages[language].taken ?? []) {
      const { status, stderr } = synthesized('taken', source.replace('size=3', `size=3, ${argument}`), file, command);
      ok(status === 0, `${example}: refuses ${argument}:\n${stderr}`);
    }
    say(`${example}: the same files and messages as in TypeScript`, started);
  }
} catch (error) {
  console.error(`languages: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(directory, { recursive: true });
}

/** Runs an app, which writes its files into an empty directory. */
function synthesized(name, source, file, command) {
  const outdir = at('output', name);
  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  writeFileSync(file, source);
  const [program, ...args] = command(file);
  const env = { ...process.env, CDK8S_OUTDIR: outdir };
  const { error, status, stderr } = spawnSync(program, args, { cwd: directory, env, encoding: 'utf8', timeout });
  if (error) throw error;
  const files = new Map(readdirSync(outdir).map((file) => [file, readFileSync(join(outdir, file), 'utf8')]));
  return { status, stderr, files };
}

function compare(example, expected, { status, stderr, files }) {
  ok(status === 0, `${example}: ${stderr}`);
  const names = [...new Set([...expected.keys(), ...files.keys()])];
  const different = names.filter((name) => expected.get(name) !== files.get(name));
  ok(different.length === 0, `${example}: writes another ${different.join(', ')} than in TypeScript`);
}

/** The line of the error that says what is wrong. */
function messageOf(stderr, says) {
  const line = stderr.split('\n').find((line) => line.includes(says));
  ok(line, `examples/typescript/main.ts with a mistake does not say '${says}', but: ${stderr}`);
  return line.replace(/^\s*(Error: )?/, '');
}
