import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { blocks, guides, root } from '../guides';

const index = 'docs/README.md';

test('the index links every page below docs/', () => {
  const text = readFileSync(join(root, index), 'utf8');
  const pages = guides.filter((guide) => guide.startsWith('docs/') && guide !== index);
  expect(pages.filter((page) => !text.includes(`](${relative('docs', page)})`))).toEqual([]);
});

test('the README links the index', () => {
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`](${index})`);
});

// The suite `clients` runs these files.
test.each([
  { language: 'go', file: 'go-client/connect.go' },
  { language: 'js', file: 'node-client/connect.mjs' },
  { language: 'python', file: 'python-client/connect.py' },
])('a guide shows $file as it is', ({ language, file }) => {
  const tested = readFileSync(join(root, 'test/tools', file), 'utf8');
  expect(blocks(language).map(({ code }) => code)).toContain(tested);
});

test('every remark of the linter of manifests has its answer', () => {
  const script = readFileSync(join(root, 'scripts/suites/lint-manifests.mjs'), 'utf8');
  const remarks = [...script.matchAll(/^ {2}(['"])(.*)\1: \{$/gm)].map(([, , remark]) => remark!);
  const answers = readFileSync(join(root, 'docs/reference/policy-linters.md'), 'utf8');
  expect(remarks.length).toBeGreaterThan(5);
  expect(remarks.filter((remark) => !answers.includes(remark))).toEqual([]);
});

const registry = readFileSync(join(root, 'scripts/suites/suites.mjs'), 'utf8');
const registered = (entry: RegExp) => [...registry.matchAll(entry)].map(([, name]) => name!);
const suites = registered(/^ {2}'?([\w-]+)'?: \{$/gm);
const benchmarks = registered(/^ {2}'?([\w-]+)'?: bench\(/gm);

test.each([
  { page: 'docs/contributing/testing.md', names: suites },
  { page: 'docs/contributing/benchmarks.md', names: benchmarks },
])('$page has a row for each suite or benchmark', ({ page, names }) => {
  const text = readFileSync(join(root, page), 'utf8');
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => !text.includes(`\n| \`${name}\` `))).toEqual([]);
});

test('every npm script, suite and benchmark that a file names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const registered = [...suites, ...benchmarks];
  const files = execFileSync('git', ['ls-files', '*.md', '*.ts', '*.mts', '*.mjs', '*.yaml', '.ci/run'], { cwd: root });
  const named = String(files)
    .split('\n')
    .filter((file) => file && existsSync(join(root, file)))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return [...text.matchAll(/\bnpm run (?:-s )?(\w[\w-]*)(?: -- ([a-z][\w-]*)(?![\w./]))?/g)].map(
        ([, script, name]) => ({ file, script: script!, name }),
      );
    });
  expect(named.length).toBeGreaterThan(100);
  const runsByName = ['suite', 'bench'];
  const unknown = named.filter(
    ({ script, name }) => !(script in scripts) || (name && runsByName.includes(script) && !registered.includes(name)),
  );
  expect(unknown).toEqual([]);
});

test('every verb and flag of kubectl etcd that a command of a guide has exists', () => {
  const reference = readFileSync(join(root, 'docs/reference/kubectl-etcd.md'), 'utf8');
  const [common = '', ...sections] = reference.split(/^### `kubectl etcd /m);
  const [ofAll = ''] = common.split('### Flags of several verbs');
  const flagsOf = (text: string) =>
    [...text.matchAll(/^\| `(?:-\w, )?(--[\w-]+)|^\[Flags of several verbs\].*$/gm)].flatMap(([found, flag]) =>
      flag ? [flag] : found.match(/--[\w-]+/g)!,
    );
  const flags = new Map(
    sections.map((text) => [/^[\w-]+/.exec(text)![0], [...flagsOf(ofAll), ...flagsOf(text)]] as const),
  );
  const lines = blocks('sh').flatMap(({ name, code }) => code.split('\n').map((line) => ({ name, line })));
  const commands = lines.flatMap(({ name, line }) =>
    [...line.matchAll(/kubectl etcd ([\w-]+)([^#|]*)/g)].map(([, verb, rest]) => ({ name, verb: verb!, rest: rest! })),
  );
  expect(commands.length).toBeGreaterThan(15);
  const unknown = commands.flatMap(({ name, verb, rest }) => {
    const known = flags.get(verb);
    const used = rest.split(' -- ')[0]!.match(/--[\w-]+/g) ?? [];
    return known
      ? used.filter((flag) => !known.includes(flag)).map((flag) => `${name}: ${verb} ${flag}`)
      : [`${name}: ${verb}`];
  });
  expect(unknown).toEqual([]);
});

test('the tutorial has every file that its commands name', () => {
  const tutorial = readFileSync(join(root, 'docs/getting-started/tutorial.md'), 'utf8');
  const commands = [...tutorial.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, code]) => code).join('');
  const named = [...commands.matchAll(/(?<![\w/.-])[\w-]+\.yaml/g)].map(([name]) => name);
  const shown = [...tutorial.matchAll(/`([\w-]+\.yaml)`[^`]*:\n\n```yaml/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(0);
  expect(shown).toEqual(expect.arrayContaining(named));
});

const linking = [...guides, 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/RESULTS.md'];

test.each(linking)('the links of %s lead somewhere', (guide) => {
  const text = readFileSync(join(root, guide), 'utf8');
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)];
  const dead = links.filter(([, path, anchor]) => {
    const target = join(root, path ? join(dirname(guide), path) : guide);
    return !existsSync(target) || (anchor && !anchorsOf(target).includes(anchor));
  });
  expect(dead.map(([link]) => link)).toEqual([]);
});

/** Returns the anchors that GitHub derives from the headings, and those of `name` attributes. */
function anchorsOf(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!);
  const slugs = headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
  return [...slugs, ...[...text.matchAll(/ name="([^"]+)"/g)].map(([, name]) => name!)];
}
