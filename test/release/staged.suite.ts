// What is changed on the way into a package or a manifest: modes, links, and the name of the image.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { evaluated } from '../unit/scripts';

const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-staged-'));
const at = (...names: string[]) => join(directory, ...names);
const text = (value: string) => JSON.stringify(value);
afterAll(() => rmSync(directory, { recursive: true }));

function staged(name: string, { file, folder }: { file: number; folder: number }) {
  mkdirSync(at(name, 'package/docs'), { recursive: true });
  for (const path of ['docs/a.md', 'run', 'package.json']) writeFileSync(at(name, 'package', path), path);
  chmodSync(at(name, 'package/docs/a.md'), file);
  chmodSync(at(name, 'package/run'), file | 0o100);
  chmodSync(at(name, 'package/docs'), folder);
  return at(name);
}
const shared = { file: 0o664, folder: 0o775 };
const closed = { file: 0o600, folder: 0o700 };

test('the npm package is the same whatever the modes of the checkout', () => {
  const packed = (name: string, modes: typeof shared) => {
    const from = staged(name, modes);
    const archive = at(`${name}.tgz`);
    execFileSync('tar', ['-czf', archive, '-C', from, 'package']);
    mkdirSync(at(`${name}.new`));
    evaluated('release/npm.mjs', `m.sameModes(${text(archive)}, ${text(at(`${name}.new`))}, 7).then(() => 0)`);
    return readFileSync(archive);
  };
  expect(packed('shared', shared)).toEqual(packed('closed', closed));
});

test('tar that unpacks nothing makes no npm package', () => {
  mkdirSync(at('bin'));
  writeFileSync(at('bin/tar'), '#!/bin/sh\n', { mode: 0o755 });
  mkdirSync(at('empty'));
  const made = evaluated(
    'release/npm.mjs',
    `m.sameModes('a.tgz', ${text(at('empty'))}, 7).catch(({ message }) => message)`,
    {
      ...process.env,
      PATH: at('bin'),
    },
  );
  expect(made).toBe('tar unpacked nothing from a.tgz');
  const packed = `(() => { try { m.pack(${text(at('empty'))}, ${text(at('empty.tgz'))}, 7); return '' } catch (error) { return error.message } })()`;
  expect(evaluated('release/pack.mjs', packed)).toBe(`${at('empty')}: there is no file to pack`);
});

test.each([shared, closed])('sources of %j are staged for everyone', (modes) => {
  const from = staged(`sources-${modes.file}`, modes);
  evaluated('lib/modes.mjs', `m.normalizeModes(${text(from)}) ?? 0`);
  const found = ['', 'package/docs', 'package/docs/a.md', 'package/run'].map(
    (path) => statSync(join(from, path)).mode & 0o777,
  );
  expect(found).toEqual([0o755, 0o755, 0o644, 0o755]);
});

test('the guide puts an image of your own into the manifests of a release, and leaves no digest of another', () => {
  mkdirSync(at('dist'));
  const names = readdirSync('dist').filter((name) => name.endsWith('.yaml'));
  for (const name of names) {
    const yaml = readFileSync(join('dist', name), 'utf8');
    writeFileSync(
      at('dist', name),
      yaml.replace(/ghcr\.io\/cdk8s-etcd\/[\w-]+:[\w.-]+/g, `$&@sha256:${'0a'.repeat(32)}`),
    );
  }
  const read = () => names.map((name) => readFileSync(at('dist', name), 'utf8')).join('');
  expect(read()).toContain('@sha256:0a0a');
  const [command] = /^sed .*dist\/\*\.yaml$/m.exec(readFileSync('docs/getting-started/install.md', 'utf8'))!;
  execFileSync('sh', ['-c', command], { cwd: directory });
  expect(read()).not.toMatch(/ghcr\.io\/cdk8s-etcd|@sha256/);
  expect(read()).toMatch(/image: '?registry\.example\.com\/etcd-agent:0\.1\.0-a'?$/m);
});

test('a manifest that names a guide says where the guides are, because the archive of a release has none', () => {
  const files = readdirSync('dist', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'));
  const naming = files.map((name) => readFileSync(join('dist', name), 'utf8')).filter((yaml) => /\bdocs\//.test(yaml));
  expect(naming.length).toBeGreaterThan(0);
  for (const yaml of naming) expect(yaml).toMatch(/^# .*docs\/ are at https:\/\/github\.com\/\S+\.$/m);
});

const readmeForOthers = (manifest: string): string =>
  evaluated('lib/links.mjs', `m.withAbsoluteLinks(${text(readFileSync('README.md', 'utf8'))}, ${manifest})`);

test('the README of the packages for other languages has no TypeScript that jsii-pacmak labels as the other language', () => {
  const labels = [...readmeForOthers(readFileSync('package.json', 'utf8')).matchAll(/^```(\w+)$/gm)].map(
    ([, label]) => label,
  );
  expect(labels).toContain('TypeScript');
  // jsii-rosetta knows these two.
  expect(labels.filter((label) => label === 'ts' || label === 'typescript')).toEqual([]);
});

test('the README of the packages for other languages has no relative link', () => {
  const manifest = readFileSync('package.json', 'utf8');
  const readme = readmeForOthers(manifest);
  const targets = [...readme.matchAll(/\]\(([^)]*)\)/g)].map(([, target]) => target!);
  expect(targets.filter((target) => !/^(https:\/\/|#)/.test(target))).toEqual([]);
  const { version } = JSON.parse(manifest);
  expect(targets).toContain(
    `https://github.com/cdk8s-etcd/cdk8s-etcd/blob/v${version}/docs/getting-started/tutorial.md`,
  );
  expect(targets).toContain(
    `https://raw.githubusercontent.com/cdk8s-etcd/cdk8s-etcd/v${version}/docs/concepts/overview.svg`,
  );
});

test.each([
  ['python', 'EtcdCluster('],
  ['java', 'EtcdCluster.Builder'],
  ['go', 'NewEtcdCluster('],
])('the README of the package for %s has an app of that language, and no TypeScript', (language, call) => {
  const read = "(path) => process.getBuiltinModule('node:fs').readFileSync(path, 'utf8')";
  const readme = text(readFileSync('README.md', 'utf8'));
  const inLanguage = evaluated('lib/packages/readme.mjs', `m.readmeFor('${language}', ${readme}, ${read})`);
  expect([...inLanguage.matchAll(/^```(\w+)$/gm)].map(([, label]) => label)).toEqual([language]);
  expect(inLanguage).toContain(call);
  expect(inLanguage).toContain('other-languages.md');
});

test('a guide of the npm package keeps its links to what is packed, and has those of the version for the rest', () => {
  const page =
    '[a](../../SECURITY.md#x) [b](../README.md#y) [c](../clusters/) ![d](../../bench/d.svg) [e](#e) [f](https://f)';
  const options = "{ from: 'docs/a/b.md', keeps: (path) => ['docs/README.md', 'docs/clusters/'].includes(path) }";
  const manifest = "{ version: '1.2.3', repository: { url: 'https://github.com/a/b.git' } }";
  expect(evaluated('lib/links.mjs', `m.withAbsoluteLinks(${text(page)}, ${manifest}, ${options})`)).toBe(
    '[a](https://github.com/a/b/blob/v1.2.3/SECURITY.md#x) [b](../README.md#y) [c](../clusters/) ' +
      '![d](https://raw.githubusercontent.com/a/b/v1.2.3/bench/d.svg) [e](#e) [f](https://f)',
  );
});

test('Git never changes the ends of lines', () => {
  expect(execFileSync('git', ['check-attr', 'text', 'README.md'], { encoding: 'utf8' })).toBe(
    'README.md: text: unset\n',
  );
});

describe('a checkout', () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a', ...args], { cwd: at('checkout') });
  const script = (name: string) => at('checkout/scripts', name);
  beforeAll(() => {
    for (const name of ['lib', 'release']) cpSync(join('scripts', name), script(name), { recursive: true });
    for (const name of ['src', 'crds']) mkdirSync(at('checkout', name));
    for (const name of ['package.json', 'README.md']) copyFileSync(name, at('checkout', name));
    for (const name of ['src/index.ts', 'crds/a.yaml', 'crds/local.yaml']) writeFileSync(at('checkout', name), name);
    git('init', '-q');
    writeFileSync(at('checkout/.git/info/exclude'), 'local.yaml\n');
    git('add', '.');
    git('commit', '-q', '-m', 'first');
  });

  test('gives no file that Git ignores to packages for other languages', () => {
    mkdirSync(at('staged'));
    writeFileSync(at('checkout/crds/new.yaml'), '');
    evaluated(script('lib/assembly.mjs'), `m.stage(${text(at('staged'))}) ?? 0`);
    rmSync(at('checkout/crds/new.yaml'));
    expect(readdirSync(at('staged/crds'))).toEqual(['a.yaml', 'new.yaml']);
  });

  test.each(['--assume-unchanged', '--skip-worktree'])('has changes that %s hides', (hide) => {
    const hasChanges = () => {
      const release = `new m.Release(${text(at('made'))}, {})`;
      return evaluated(
        script('release/release.mjs'),
        `(() => { const each = ${release}; each.end(); return each.hasChanges })()`,
      );
    };
    expect(hasChanges()).toBe(false);
    git('update-index', hide, 'src/index.ts');
    expect(hasChanges()).toBe(true);
    git('update-index', hide.replace('--', '--no-'), 'src/index.ts');
  });
});

describe('the files of the npm package', () => {
  const files = () => readdirSync(at('npm'), { recursive: true, encoding: 'utf8' });
  const read = (file: string) => readFileSync(at('npm', file), 'utf8');
  beforeAll(() => {
    mkdirSync(at('npm'));
    evaluated('release/package.mjs', `m.stageFiles(${text(at('npm'))}) ?? 0`);
  });

  test('have no relative link that leads out of the package', () => {
    const pages = files().filter((file) => file.endsWith('.md'));
    expect(pages.length).toBeGreaterThan(50);
    const links = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?![a-z]+:|#)([^)\s#]+)/g)].map(([, target]) => join(dirname(page), target!)),
    );
    expect(links.length).toBeGreaterThan(500);
    expect(links.filter((link) => !existsSync(at('npm', link)))).toEqual([]);
  });

  test('have examples that import the package', () => {
    const examples = files().filter((file) => file.startsWith('examples/') && file.endsWith('.ts'));
    expect(examples.length).toBeGreaterThan(5);
    for (const example of examples) {
      expect(read(example)).toContain(" from 'cdk8s-etcd';");
      expect(read(example)).not.toMatch(/ from '\./);
    }
  });

  test('are those that Git tracks', () => {
    expect(files()).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE', 'crds', 'docs/README.md']));
    const tracked = new Set(execFileSync('git', ['ls-files'], { encoding: 'utf8' }).split('\n'));
    const staged = files().filter((file) => statSync(at('npm', file)).isFile());
    expect(staged.filter((file) => !tracked.has(file) || file.startsWith('docs/.vitepress'))).toEqual([]);
  });
});
