import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { root } from '../guides';

// docs/contributing contains the specification, and the security model contains its promises. Their statements about
// the repository must be true.

const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const code = files.filter((file) => /\.(ts|mts|mjs)$/.test(file) && file !== 'test/unit/spec.test.ts');

/** An invariant of the protocol, or a promise. */
interface Invariant {
  readonly name: string;
  readonly holders: readonly { readonly path: string; readonly names: readonly string[] }[];
}

const heldIn = (page: string): readonly Invariant[] =>
  read(page)
    .split(/^### /m)
    .slice(1)
    .map((section) => section.replace(/^## .*/ms, ''))
    .map((section) => ({
      name: section.split('\n')[0]!,
      holders: [...section.matchAll(/^- `([^`]+)`: (.+)$/gm)].map(([, path, names]) => ({
        path: path!,
        names: [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
      })),
    }));

const invariants = heldIn('docs/contributing/protocol.md');
const promises = heldIn('docs/operations/security-model.md');

/** A file, or all files of a directory. */
function textOf(path: string): string | undefined {
  const absolute = join(root, path);
  if (!existsSync(absolute)) return undefined;
  if (statSync(absolute).isFile()) return read(path);
  return files
    .filter((file) => file.startsWith(`${path}/`))
    .map(read)
    .join('\n');
}

function expectHolders({ holders }: Invariant): void {
  expect(holders.length).toBeGreaterThan(0);
  const missing = holders.flatMap(({ path, names }) => {
    const text = textOf(path);
    if (text === undefined) return [`${path} does not exist`];
    const isSkipped = (name: string) => ["'", '"', '`'].some((quote) => text.includes(`.skip(${quote}${name}`));
    return names
      .filter((name) => !text.includes(name) || isSkipped(name))
      .map((name) => `${path} has no "${name}", or skips it`);
  });
  expect(missing).toEqual([]);
  expect(holders.every(({ names }) => names.length > 0)).toBe(true);
}

/** Messages may begin with these words, too. */
const wordsOfKubernetes = ['ErrImagePull'];

describe('docs/contributing/protocol.md', () => {
  test('names each invariant once, in CamelCase', () => {
    const names = invariants.map(({ name }) => name);
    expect(names.length).toBeGreaterThan(25);
    expect(names.filter((name) => !/^([A-Z][a-z]+){2,}$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(invariants)('$name is held by tests that exist', expectHolders);

  test('has every invariant that code cites, as (protocol.md: Name) or as Name: in a message of a check', () => {
    const known = new Set([...invariants.map(({ name }) => name), ...wordsOfKubernetes]);
    const cited = code.flatMap((file) => {
      const text = read(file);
      const isCheck = file.startsWith('agent/test/members/') || file.startsWith('agent/test/model/');
      const comments = [...text.matchAll(/\(protocol\.md: ([^)]+)\)/g)].flatMap(([, names]) => names!.split(', '));
      const messages = isCheck ? [...text.matchAll(/['`^](([A-Z][a-z]+){2,}): /g)].map(([, name]) => name!) : [];
      return [...comments, ...messages].map((name) => `${file}: ${name}`);
    });
    expect(cited.length).toBeGreaterThan(10);
    expect(cited.filter((citation) => !known.has(citation.split(': ')[1]!))).toEqual([]);
  });
});

describe('docs/operations/security-model.md', () => {
  test('makes promises', () => expect(promises.length).toBeGreaterThan(8));

  test.each(promises)('$name: it is held by tests that exist', expectHolders);
});

describe('docs/contributing/architecture.md', () => {
  test('names paths that exist', () => {
    const paths = [...read('docs/contributing/architecture.md').matchAll(/`((?:[\w.-]+\/)+[\w.-]*)`/g)];
    expect(paths.length).toBeGreaterThan(30);
    expect(paths.map(([, path]) => path!).filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

describe('the invariants that imports and rights hold', () => {
  test('only the reconciler changes the membership of a cluster', () => {
    const callers = code.filter(
      (file) =>
        file.startsWith('agent/src/') &&
        !file.endsWith('.test.ts') &&
        /Cluster\/Member(Add|Remove|Promote|Update)/.test(read(file)),
    );
    expect(callers).toEqual(['agent/src/controllers/etcd/cluster-calls.ts']);
    const importers = code.filter(
      (file) => file.startsWith('agent/src/') && /from '.*\/cluster-calls\.ts'/.test(read(file)),
    );
    expect(importers.filter((file) => !file.startsWith('agent/src/controllers/etcd/'))).toEqual([]);
  });

  test('the reconciler writes nothing of our custom resources but status, finalizers and records of scheduled runs', () => {
    const writes = code
      .filter((file) => file.startsWith('agent/src/controllers/') && !file.endsWith('.test.ts'))
      .flatMap((file) => [
        ...read(file).matchAll(
          /\.(apply|merge|create|replace)(?:<.+>)?\(paths\.of\('(etcd\w+)'(?:, \w+)?(?:, '(\w+)')?\)/g,
        ),
      ])
      .map(([, verb, resource, part]) => `${verb} ${resource}${part ? `/${part}` : ''}`);
    expect([...new Set(writes)].sort()).toEqual([
      'create etcdbackups',
      'merge etcdbackups/status',
      // Its finalizers alone.
      'merge etcdclusters',
      'merge etcdclusters/status',
      'merge etcdrestores/status',
      'merge etcdusers/status',
    ]);
  });
});

test('CI does not retry a suite in which clients saw wrong data', () => {
  const ci = read(files.find((file) => file.endsWith('/ci.mjs'))!);
  const names = [
    'AcknowledgedWritesKept',
    'RevisionsRise',
    'VotersAgree',
    'OneClusterIdPerEpoch',
    'OneVolumePerMember',
  ];
  expect(names.filter((name) => !ci.includes(name))).toEqual([]);
});

describe('the repository', () => {
  test('names files of its own that exist', () => {
    const top = 'agent|bench|crds|dist|docs|examples|quickstart|scripts|src|test';
    const inProse = new RegExp(`\`((?:${top})/[\\w./-]+\\.(?:ts|mts|mjs|md|yaml))\``, 'g');
    const inComments = new RegExp(`^\\s*(?://|\\*|/\\*\\*).*?((?:${top})/[\\w./-]+\\.(?:ts|mts|mjs|md))`, 'gm');
    /** An example of a name, or a file of the reader's own. */
    const isExample = (path: string) => /COMMAND|^dist\/orders/.test(path);
    const missing = files.flatMap((file) => {
      const pattern = file.endsWith('.md') ? inProse : code.includes(file) ? inComments : undefined;
      return pattern === undefined
        ? []
        : [...read(file).matchAll(pattern)]
            .map(([, path]) => path!)
            .filter(
              (path) =>
                !isExample(path) && !existsSync(join(root, path)) && !existsSync(join(root, dirname(file), path)),
            )
            .map((path) => `${file}: ${path}`);
    });
    expect(missing).toEqual([]);
  });

  test('cites only invariants of protocol.md in backticks', () => {
    const known = new Set(invariants.map(({ name }) => name));
    const cited = code.flatMap((file) =>
      [...read(file).matchAll(/protocol\.md:? +([A-Z]\w+)/g)].map(([, name]) => name!),
    );
    expect(cited.filter((name) => !known.has(name))).toEqual([]);
  });

  test('has no folder of sources or tests with more than some 25 files', () => {
    const counts = new Map<string, number>();
    for (const file of files.filter((each) => /\.(ts|mts|mjs)$/.test(each) && !each.startsWith('imports/')))
      counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > 28)).toEqual([]);
  });

  test('exports no type with a name that generated Java needs for its own', () => {
    const names = readFileSync(join(root, 'src/index.ts'), 'utf8').match(/\w+/g)!;
    const java = ['Boolean', 'Deprecated', 'Enum', 'Exception', 'Number', 'Object', 'Override', 'String', 'System'];
    expect(names.filter((name) => java.includes(name))).toEqual([]);
  });

  test('refers to no document outside the repository', () => {
    const prose = files.filter(
      (file) =>
        /\.(md|ts|mts|mjs|js|json|ya?ml|sh)$|Dockerfile$/.test(file) &&
        !/(^|\/)(package-lock\.json|go\.sum)$|^imports\/|^test\/unit\/spec\.test\.ts$|container-path\.test/.test(file),
    );
    const outside =
      /\.\.\/shared\/(testbed|design|findings|hooks)|\bdesign\/\w|\b(membership|experiments(-2)?|traps|overview|house|english)\.md\b|§ ?\d|(?<![\w}])\/work\/\w|\/tmp\/wt\b|(?<![\w}])\/Users\/|(?<![\w}.~-])\/home\/\w|\bClaude\b/;
    expect(prose.filter((file) => outside.test(read(file)))).toEqual([]);
  });

  test('has no link out of the repository', () => {
    const pages = files.filter((file) => file.endsWith('.md'));
    const links = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, target]) => [page, target!] as const),
    );
    expect(links.length).toBeGreaterThan(50);
    const outside = links.filter(([page, target]) =>
      relative(root, resolve(root, dirname(page), target)).startsWith('..'),
    );
    expect(outside).toEqual([]);
  });

  test('cites invariants, experiments and steps by name, not by number', () => {
    const numbers = /\bI\d{1,2}: |\(I\d{1,2}\)|\bC[1-8]: |\b[RF]\d{1,2}b?[:–]|\bE\d{1,2}\.\d+\b/;
    const cited = code.filter((file) => file.startsWith('agent/') && numbers.test(read(file)));
    expect(cited).toEqual([]);
  });
});
